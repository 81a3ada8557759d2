# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of timens-run share beside their fixtures."""

import fnmatch
import os
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PROGRAM = Path(os.environ.get("TIMENS_RUN", PROJECT / "build/bin/timens-run")).resolve()

USER_ID = 65533  # has no name and no ranges
RANGE_USER_ID = 61234  # gets a name and ranges in a private /etc
RANGE_START, RANGE_COUNT = 700_000, 65_536
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


def control_groups(pattern: str) -> set[Path]:
    """All folders of this name in all trees; others may come and go while we look."""
    return {
        Path(folder) / name
        for folder, names, _ in os.walk("/sys/fs/cgroup")
        for name in fnmatch.filter(names, pattern)
    }


@dataclass
class Runner:
    """Starts timens-run and remembers what it started."""

    prefix: Sequence[str] = ()
    uid: int = field(default_factory=os.geteuid)
    program: Path = PROGRAM
    marker: str = field(default_factory=lambda: f"TIMENS_TEST_MARK={uuid.uuid4()}")
    children: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *args: object, **options: object) -> subprocess.Popen[str]:
        """Starts it; stdout and stderr apart, as text."""
        name, _, value = self.marker.partition("=")
        given = options.pop("env", None)
        environment = {**(given if isinstance(given, dict) else os.environ), name: value}
        for option in ("ASAN_OPTIONS", "LLVM_PROFILE_FILE"):  # of the build, not of the test
            if option in os.environ:
                environment[option] = os.environ[option]
        defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        child = subprocess.Popen(
            [*self.prefix, str(self.program), *map(str, args)],
            **{**defaults, **options},  # type: ignore[call-overload]
            env=environment,
        )
        self.children.append(child)
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
            for child in self.children
            for group in control_groups(f"timens-run-{child.pid}-*")
        ]
        held = [m for m in mounts for f in folders if f" {f}" in m]
        return self.processes() + held + groups

    def assert_nothing_left(self, *folders: Path) -> None:
        """Gives the kernel a moment, then insists."""
        end = time.monotonic() + GONE_WITHIN_S
        while (left := self.leftovers(*folders)) and time.monotonic() < end:
            time.sleep(0.02)
        for child in self.children:
            child.kill()  # a test that failed may have left it running; it takes the rest along
        assert left == []
