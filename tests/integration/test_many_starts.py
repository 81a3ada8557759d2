# SPDX-License-Identifier: LGPL-2.1-or-later
"""A thousand starts in a row, and a hundred at once, leave the host as it was."""

import os
import subprocess
from pathlib import Path

from kit import PROGRAM, Runner

SANITIZED = "asan" in str(PROGRAM)  # ten times as slow
ROW, AT_ONCE = 100 if SANITIZED else 1000, 100


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_thousand_starts_in_a_row_leave_nothing(run: Runner, rootfs: Path) -> None:
    before = open_files()
    loop = f'i=0; while [ $i -lt {ROW} ]; do "$@" || exit 9; i=$((i + 1)); done'
    run.prefix = ["sh", "-c", loop, "sh"]
    done = run("--boottime", "+3600", rootfs, "/bin/true", timeout_s=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    run.assert_nothing_left(rootfs)
    assert open_files() == before


def test_a_hundred_at_once_all_run_and_leave_nothing(run: Runner, rootfs: Path) -> None:
    """All of them are inside at the same time: each waits for the end of its standard input."""
    before = open_files()
    limits = ["--pids", "9"] if os.geteuid() == 0 else []
    inside = ["sh", "-c", "echo inside; read end; exit 5"]
    pipes = {"stdin": subprocess.PIPE}
    children = [run.start(*limits, rootfs, *inside, **pipes) for _ in range(AT_ONCE)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "inside\n"
    for child in children:
        child.communicate("\n", timeout=30)
    assert [child.returncode for child in children] == [5] * AT_ONCE
    run.assert_nothing_left(rootfs)
    assert open_files() == before
