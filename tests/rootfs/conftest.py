# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures: the tool as its users start it, and a root that needs no network."""

import subprocess
from pathlib import Path

import pytest
from rootfs_kit import PROGRAM, Run


@pytest.fixture
def rootfs() -> Run:
    """Run timens-rootfs; returns the CompletedProcess, stdout and stderr apart, as text."""

    def run(*args: object, timeout_s: int = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    return run


@pytest.fixture
def busybox_root(rootfs: Run, tmp_path: Path) -> Path:
    """A fresh busybox root, alone in its folder."""
    (tmp_path / "made").mkdir()
    root = tmp_path / "made/root"
    done = rootfs("create", root, "--from", "busybox")
    assert (done.returncode, done.stderr) == (0, "")
    return root
