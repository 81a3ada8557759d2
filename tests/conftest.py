# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures for everything that runs timens-run on the real kernel.

The runner never hides stderr, and when a test is over it looks for what was left behind:
processes, mounts and control groups are a failure of that test.
"""

import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kit import RANGE_COUNT, RANGE_START, RANGE_USER_ID, USER_ID

PROJECT = Path(__file__).parents[1]
PROGRAM = Path(os.environ.get("TIMENS_RUN", PROJECT / "build/bin/timens-run")).resolve()

FEW_APPLETS = (
    "cat",
    "echo",
    "env",
    "id",
    "ls",
    "mkdir",
    "rm",
    "sh",
    "sleep",
    "stat",
    "touch",
    "true",
)
GONE_WITHIN_S = 5.0  # the kernel tears a killed PID namespace down on its own time


def as_user(uid: int = USER_ID) -> list[str]:
    """A command prefix: somebody without privileges, names or ranges of ids."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]


def as_user_with_ranges() -> list[str]:
    """A command prefix: a user whom /etc/subuid gives ids, in a mount namespace of its own."""
    uid = RANGE_USER_ID
    script = f"""
        t=$(mktemp -d) && mount -t tmpfs tmpfs $t && cp /etc/passwd /etc/group $t
        echo timens-tester:x:{uid}:{uid}::/:/bin/sh >>$t/passwd
        echo timens-tester:x:{uid}: >>$t/group
        echo timens-tester:{RANGE_START}:{RANGE_COUNT} >$t/subuid
        for f in passwd group; do mount --bind $t/$f /etc/$f; done
        for f in subuid subgid; do touch /etc/$f; mount --bind $t/subuid /etc/$f; done
        umount -l $t && rmdir $t
        exec {" ".join(as_user(uid))} "$@"
    """
    return ["unshare", "--mount", "sh", "-ec", script, "sh"]


@dataclass
class Runner:
    """Starts timens-run and remembers what it started."""

    prefix: Sequence[str] = ()
    uid: int = field(default_factory=os.geteuid)
    program: Path = PROGRAM
    marker: str = field(default_factory=lambda: f"TIMENS_TEST_MARK={uuid.uuid4()}")
    pids: list[int] = field(default_factory=list)

    def start(self, *args: object, **options: object) -> subprocess.Popen[str]:
        """Starts it; stdout and stderr apart, as text."""
        name, _, value = self.marker.partition("=")
        given = options.pop("env", None)
        environment = {**(given if isinstance(given, dict) else os.environ), name: value}
        if "ASAN_OPTIONS" in os.environ:  # of a sanitized build, not of the test
            environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        child = subprocess.Popen(
            [*self.prefix, str(self.program), *map(str, args)],
            **{**defaults, **options},  # type: ignore[call-overload]
            env=environment,
        )
        self.pids.append(child.pid)
        return child

    def __call__(
        self, *args: object, timeout_s: float = 20, input: str | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        """Runs it to its end."""
        stdin = subprocess.PIPE if input is not None else subprocess.DEVNULL
        with self.start(*args, **{"stdin": stdin, **options}) as child:
            try:
                out, err = child.communicate(input, timeout=timeout_s)
            except subprocess.TimeoutExpired:
                child.kill()
                raise
        return subprocess.CompletedProcess(child.args, child.returncode, out, err)

    def give(self, tree: Path) -> None:
        """Makes the tree belong to whoever runs timens-run here."""
        if self.uid != os.geteuid():
            subprocess.run(["chown", "-hR", f"{self.uid}:{self.uid}", tree], check=True)

    def processes(self) -> list[str]:
        """What we started, or what that started, and still runs."""
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.marker.encode() in environ.read_bytes():
                    words = (environ.parent / "cmdline").read_bytes().replace(b"\0", b" ")
                    found.append(f"process {environ.parent.name}: {words.decode()}")
            except OSError:
                continue
        return found

    def leftovers(self, *folders: Path) -> list[str]:
        """Processes, mounts beneath the folders, control groups."""
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        groups = [
            f"cgroup {group}"
            for pid in self.pids
            for group in Path("/sys/fs/cgroup").glob(f"**/*timens*{pid}*")
        ]
        held = [m for m in mounts for f in folders if f" {f}" in m]
        return self.processes() + held + groups

    def assert_nothing_left(self, *folders: Path) -> None:
        """Gives the kernel a moment, then insists."""
        end = time.monotonic() + GONE_WITHIN_S
        while (left := self.leftovers(*folders)) and time.monotonic() < end:
            time.sleep(0.02)
        assert left == []


@pytest.fixture(scope="session")
def shared_folder() -> Iterator[Path]:
    """A folder that other users may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="timens-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def rootfs(shared_folder: Path) -> Path:
    """A root filesystem of nothing but busybox, for tests that do not write to it."""
    return make_busybox_root(shared_folder / "rootfs")


@pytest.fixture
def make_rootfs(shared_folder: Path) -> Iterator[Callable[[], Path]]:
    """Makes root filesystems of this test's own."""
    made: list[Path] = []

    def make() -> Path:
        made.append(make_busybox_root(shared_folder / f"rootfs-{uuid.uuid4()}", FEW_APPLETS))
        return made[-1]

    yield make
    for root in made:
        shutil.rmtree(root)


def make_busybox_root(root: Path, names: Sequence[str] = ()) -> Path:
    """The smallest root that has a shell; everybody may write to it."""
    busybox = Path(shutil.which("busybox") or "/bin/busybox")
    for name in ("bin", "etc", "tmp", "proc", "sys", "dev"):
        (root / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, root / "bin/busybox")
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for name in names or applets.stdout.split():
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\napp:x:7:8:app:/tmp:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nweb:x:8:\nlog:x:9:\n")
    for folder in (root, root / "tmp"):
        folder.chmod(0o777)
    return root


@pytest.fixture(scope="session")
def host_rootfs(shared_folder: Path) -> list[str]:
    """Words of a command line: a root with the host's programs in it, so that Python runs."""
    root = shared_folder / "host-rootfs"
    for name in ("usr", "etc", "tmp", "proc", "sys", "dev"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / name).symlink_to(f"usr/{name}")
    return ["--ro-bind", "/usr:/usr", str(root)]


@pytest.fixture
def run(shared_folder: Path) -> Iterator[Runner]:
    """Runs timens-run as whoever runs the tests; leaves nothing behind."""
    runner = Runner()
    yield runner
    runner.assert_nothing_left(shared_folder)


@pytest.fixture(params=["root", "user", "user with ranges"])
def run_as_anyone(request: pytest.FixtureRequest, shared_folder: Path) -> Iterator[Runner]:
    """Runs timens-run as root, as a user with one id, and as a user with ranges of ids."""
    runner = Runner()
    if os.geteuid() == 0:
        runner.prefix, runner.uid = {
            "root": ([], 0),
            "user": (as_user(), USER_ID),
            "user with ranges": (as_user_with_ranges(), RANGE_USER_ID),
        }[request.param]
    elif request.param != "user":
        pytest.skip("becoming somebody else needs root")
    yield runner
    runner.assert_nothing_left(shared_folder)


@pytest.fixture
def run_as_user(shared_folder: Path) -> Iterator[Runner]:
    """Runs timens-run without privileges and without ranges of ids."""
    runner = Runner(prefix=as_user() if os.geteuid() == 0 else [])
    yield runner
    runner.assert_nothing_left(shared_folder)


@pytest.fixture
def run_with_ranges(shared_folder: Path) -> Iterator[Runner]:
    """Runs timens-run as a user with ranges of ids in /etc/subuid."""
    if os.geteuid() != 0:
        pytest.skip("a user with ranges can only be made by root")
    runner = Runner(prefix=as_user_with_ranges())
    yield runner
    runner.assert_nothing_left(shared_folder)
