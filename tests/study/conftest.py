# SPDX-License-Identifier: LGPL-2.1-or-later
"""A runner for timens-study and one small root filesystem for all tests."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

BIN = Path(os.environ.get("TIMENS_BIN", Path(__file__).parents[2] / "build" / "bin")).absolute()


@pytest.fixture(scope="session")
def rootfs(tmp_path_factory):
    """One busybox root; timens-study puts timens-bench into it."""
    folder = tmp_path_factory.mktemp("rootfs") / "busybox"
    create = [BIN / "timens-rootfs", "create", folder, "--from", "busybox"]
    subprocess.run(create, check=True, capture_output=True)
    subprocess.run(
        [BIN / "timens-rootfs", "add", folder, BIN / "timens-bench"],
        check=True,
        capture_output=True,
    )
    for above in (folder, *folder.parents[:3]):
        above.chmod(0o755)  # another user must be able to enter it
    return folder


@pytest.fixture
def study():
    """Runs timens-study; returns the CompletedProcess, stdout and stderr apart, as text."""

    def _study(*args, timeout_s=120, **more):
        return subprocess.run(
            [BIN / "timens-study", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **more,
        )

    return _study


@pytest.fixture
def begin(rootfs):
    """Starts `timens-study run --profile smoke` in the background; returns the Popen."""
    running = []

    def _begin(output, *args, **more):
        command = [
            *(BIN / "timens-study", "run", "--profile", "smoke", "--no-report"),
            *("--rootfs", rootfs, "--output", output),
            *args,
        ]
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )
        running.append(process)
        return process

    yield _begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def nobody_folder():
    """A folder that belongs to nobody; pytest's own are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="timens-nobody-") as folder:
        os.chown(folder, 65534, 65534)
        yield Path(folder)
