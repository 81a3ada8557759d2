# SPDX-License-Identifier: LGPL-2.1-or-later
"""A runner for timens-study and one small root filesystem for all tests."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def programs():
    """The folder of all programs."""
    return Path(os.environ.get("TIMENS_BIN", Path(__file__).parents[2] / "build/bin")).absolute()


@pytest.fixture(scope="session")
def rootfs(programs):
    """One busybox root with timens-bench; not below pytest's folders, which are root's alone."""
    with tempfile.TemporaryDirectory(prefix="timens-study-") as above:
        Path(above).chmod(0o755)
        folder = Path(above) / "busybox"
        tool = programs / "timens-rootfs"
        for words in (
            ["create", folder, "--from", "busybox"],
            ["add", folder, programs / "timens-bench"],
        ):
            subprocess.run([tool, *words], check=True, capture_output=True)
        yield folder


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, rootfs, programs):
    """One complete run over the paper's metrics and the controls, all four levels."""
    folder = tmp_path_factory.mktemp("smoke") / "run"
    command = [
        *(programs / "timens-study", "run", "--profile", "smoke", "--no-report"),
        *("--rootfs", rootfs, "--output", folder, "--seed", "1"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def study(programs):
    """Runs timens-study; returns the CompletedProcess, stdout and stderr apart, as text."""

    def _study(*args, timeout_s=120, **more):
        return subprocess.run(
            [programs / "timens-study", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **more,
        )

    return _study


@pytest.fixture
def launch(programs):
    """Starts timens-study in the background; returns the Popen."""
    running = []

    def _launch(*args):
        process = subprocess.Popen(
            [programs / "timens-study", *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield _launch
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def begin(rootfs, launch):
    """Starts a run of the smoke profile."""

    def _begin(output, *args):
        where = ("--rootfs", rootfs, "--output", output)
        return launch("run", "--profile", "smoke", "--no-report", *where, *args)

    return _begin


@pytest.fixture
def go_on(launch):
    """Resumes a run in the background."""

    def _go_on(folder):
        return launch("resume", folder, "--no-report")

    return _go_on


@pytest.fixture
def nobody_folder():
    """A folder that belongs to nobody; pytest's own are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="timens-nobody-") as folder:
        os.chown(folder, 65534, 65534)
        yield Path(folder)
