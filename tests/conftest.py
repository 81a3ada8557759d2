# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures for everything that runs timens-run on the real kernel.

The runner never hides stderr, and when a test is over it looks for what was left behind:
processes, mounts and control groups are a failure of that test.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from kit import (
    RANGE_USER_ID,
    USER_ID,
    Runner,
    as_user,
    as_user_with_ranges,
)

# A caller in the background ignores these, and a shell inside could then not trap them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

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
    runner = Runner(prefix=as_user(), uid=USER_ID) if os.geteuid() == 0 else Runner()
    yield runner
    runner.assert_nothing_left(shared_folder)


@pytest.fixture
def run_with_ranges(shared_folder: Path) -> Iterator[Runner]:
    """Runs timens-run as a user with ranges of ids in /etc/subuid."""
    if os.geteuid() != 0:
        pytest.skip("a user with ranges can only be made by root")
    runner = Runner(prefix=as_user_with_ranges(), uid=RANGE_USER_ID)
    yield runner
    runner.assert_nothing_left(shared_folder)
