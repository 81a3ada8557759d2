# SPDX-License-Identifier: LGPL-2.1-or-later
"""A throw-away Debian 13 machine for container engines: the tree, and how to enter it.

The tree is made once by timens-rootfs and kept under build/engines; every machine is an overlay
of it in namespaces of its own (see ./enter), so that nothing reaches the host.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parents[1]
BUILD = SOURCE / "build"
CACHE = BUILD / "engines"
TREE = CACHE / "tree"
STAMP = CACHE / "packages"
SUITE = "trixie"
PACKAGES = (
    *("busybox-static", "ca-certificates", "catatonit", "containerd", "crun", "docker-cli"),
    *("docker.io", "golang-go", "golang-github-opencontainers-runtime-tools-dev", "iproute2"),
    *("munge", "passt", "podman", "procps", "runc", "slurm-client", "slurmctld", "slurmd"),
    *("strace", "uidmap", "xz-utils"),
)
SUITES = CACHE / "suites"
CRI = CACHE / "cri"
PROGRAMS = ("timens-oci", "timens-hook")
TREE_TIMEOUT_S = 1500
END_TIMEOUT_S = 20.0
NAMESPACES = ("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make_tree() -> Path:
    """The tree with all engines; made again when the list of packages has changed."""
    wanted = " ".join([SUITE, *PACKAGES])
    if TREE.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return TREE
    if TREE.exists():
        shutil.rmtree(TREE)
    CACHE.mkdir(parents=True, exist_ok=True)
    program = BUILD / "bin/timens-rootfs"
    subprocess.run(
        [program, "create", TREE, "--suite", SUITE, "--include", ",".join(PACKAGES)],
        check=True,
        timeout=TREE_TIMEOUT_S,
    )
    STAMP.write_text(wanted)
    return TREE


def build_suites() -> Path:
    """The validation programs of runtime-tools, for use inside a machine."""
    subprocess.run([HERE / "build-suites", make_tree(), SUITES], check=True, timeout=TREE_TIMEOUT_S)
    return SUITES / "programs"


def build_cri() -> Path:
    """The program that asks a container runtime for pods, for use inside a machine."""
    subprocess.run([HERE / "build-cri", make_tree(), CRI], check=True, timeout=TREE_TIMEOUT_S)
    return CRI / "cri"


def cgroup_trees() -> list[Path]:
    """Where this host has cgroup hierarchies: one of v2, or several of v1, or both."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    fields = [line.split(" - ") for line in lines]
    return [
        Path(before.split()[4])
        for before, after in fields
        if after.split()[0] in ("cgroup", "cgroup2")
    ]


def remove_cgroup(top: Path) -> None:
    """Thaw, end and remove a cgroup with all beneath it, deepest first."""
    for folder, _, _ in os.walk(top, topdown=False):
        here = Path(folder)
        with contextlib.suppress(OSError):
            (here / "freezer.state").write_text("THAWED")
        with contextlib.suppress(OSError):
            (here / "cgroup.freeze").write_text("0")
        end = time.monotonic() + END_TIMEOUT_S
        while here.exists() and time.monotonic() < end:
            try:
                here.rmdir()
            except OSError:
                for pid in (here / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                time.sleep(0.05)


class Machine:
    """One running machine; use as a context manager."""

    def __init__(self, view: str) -> None:
        self.view = view
        CACHE.mkdir(parents=True, exist_ok=True)
        self.work = Path(tempfile.mkdtemp(prefix="machine-", dir=CACHE))
        self.cgroups = [tree / self.work.name for tree in cgroup_trees()]
        self.init = 0

    def __enter__(self) -> "Machine":
        for cgroup in self.cgroups:
            cgroup.mkdir()
            for name in ("cpuset.cpus", "cpuset.mems"):  # v1: empty in a new cgroup
                if (cgroup / name).exists() and not (cgroup / name).read_text().strip():
                    (cgroup / name).write_text((cgroup.parent / name).read_text())
        join = "".join(f"echo $$ >{cgroup}/cgroup.procs;" for cgroup in self.cgroups)
        programs = self.work / "programs"
        programs.mkdir()
        for name in PROGRAMS:
            if (BUILD / "bin" / name).exists():
                shutil.copy(BUILD / "bin" / name, programs)
        enter = [HERE / "enter", make_tree(), self.work, self.view, programs, SOURCE]
        words = " ".join(map(str, enter))
        self.process = subprocess.Popen(
            ["sh", "-c", f"{join} exec unshare -mpnuiC --fork --kill-child {words}"],
            stdin=subprocess.DEVNULL,
        )
        self.join = join
        self._wait_for_init()
        return self

    def _wait_for_init(self) -> None:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for _ in range(400):
            time.sleep(0.05)
            if self.process.poll() is not None:
                break
            for pid in children.read_text().split():
                if Path(f"/proc/{pid}/comm").read_text().strip() == "catatonit":
                    self.init = int(pid)
                    return
        raise RuntimeError("the machine did not start; its errors are above")

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # PID 1 and all beneath it go with it
        self.process.wait()
        for cgroup in self.cgroups:
            remove_cgroup(cgroup)
        shutil.rmtree(self.work)

    def run(
        self,
        command: str,
        *,
        user: int = 0,
        timeout_s: float = 60,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """A shell command inside, to its end; stdout and stderr apart."""
        identity = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        variables = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", **(env or {})}
        if user:
            variables |= {"HOME": "/home/user", "XDG_RUNTIME_DIR": f"/run/user/{user}"}
        where = "/" if user else "/root"
        inner = ["nsenter", f"--target={self.init}", *NAMESPACES, f"--wdns={where}"]
        argv = [*inner, *(identity if user else []), "sh", "-c", command]
        return subprocess.run(
            ["sh", "-c", f'{self.join} exec "$@"', "sh", *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=variables,
            timeout=timeout_s,
            check=False,
        )
