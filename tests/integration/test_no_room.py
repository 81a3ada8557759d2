# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of the launcher's that find no room: told in time, and nothing half is left."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def full_folder(tmp_path):
    """A file system with room for the names of files and nothing in them."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", tmp_path], check=True)
    (tmp_path / "filler").write_bytes(bytes(os.sysconf("SC_PAGE_SIZE")))
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


MARK = ["sh", "-c", "echo it ran"]
LIMIT_HINT = "hint: raise the limit on files, ulimit -f\n"


@pytest.fixture(autouse=True)
def profile_elsewhere(monkeypatch):
    """What an instrumented build writes would meet the limits first."""
    if "LLVM_PROFILE_FILE" in os.environ:
        monkeypatch.setenv("LLVM_PROFILE_FILE", "/dev/null")


def names_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_on_a_full_disk_no_timeline_begins(run, rootfs, full_folder):
    result = run("--timeline", full_folder / "t", rootfs, *MARK)

    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr == (
        f"timens-run: timeline: cannot write {full_folder}/t.new: No space left on device\n"
        "hint: make room there, or keep FILE on another file system\n"
    )
    assert names_in(full_folder) == ["filler"]


def test_on_a_full_disk_no_empty_pid_file_is_left(run, rootfs, full_folder):
    result = run("--pid-file", full_folder / "pid", rootfs, *MARK)

    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr == (
        f"timens-run: announce: cannot write {full_folder}/pid: No space left on device\n"
    )
    assert names_in(full_folder) == ["filler"]


@pytest.mark.parametrize(
    ("option", "step", "name", "limit", "hint"),
    [
        ("--timeline", "timeline", "t.new", 0, LIMIT_HINT),
        ("--timeline", "timeline", "t.new", 300, LIMIT_HINT),
        ("--pid-file", "announce", "t", 0, ""),
    ],
)
def test_a_limit_on_file_sizes_is_an_error_and_no_death(
    run, rootfs, tmp_path, option, step, name, limit, hint
):
    run.prefix = ["prlimit", f"--fsize={limit}:"]
    result = run(option, tmp_path / "t", rootfs, *MARK)

    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr == (
        f"timens-run: {step}: cannot write {tmp_path}/{name}: File too large\n{hint}"
    )
    assert names_in(tmp_path) == []


def test_the_command_still_dies_of_a_file_that_is_too_large(run, rootfs, tmp_path):
    run.prefix = ["prlimit", "--fsize=5000:"]
    result = run(
        "--timeline", tmp_path / "t", rootfs, "sh", "-c",
        "grep SigIgn /proc/self/status; head -c 6000 /dev/zero >/tmp/large; echo $?",
    )  # fmt: skip
    (rootfs / "tmp/large").unlink()
    ignored, status = result.stdout.splitlines()

    assert int(ignored.split()[1], 16) & 1 << 24 == 0
    assert status == str(128 + 25)
    assert names_in(tmp_path) == ["t"]
