# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many containers, in a row and at once, leave nothing: no process, cgroup, mount or state.

TIMENS_MANY=1000 is the heavy form: so many in a row.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from oci_kit import Bundle, Runtime

IN_A_ROW = int(os.environ.get("TIMENS_MANY", "30"))
AT_ONCE = 20


def live(runtime: Runtime, bundle: Path, name: str) -> tuple[int, str]:
    """From create to delete; the pid of the container, and its status before the delete."""
    pid_file = bundle / f"{name}.pid"
    runtime.ok("create", "--bundle", bundle, "--pid-file", pid_file, name)
    created = runtime.state(name)["status"]
    runtime.ok("start", name)
    runtime.ok("delete", "--force", name)
    return int(pid_file.read_text()), created


def runs(pid: int) -> bool:
    """An ended container is init's to reap, which may take its time."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes_of(text: str) -> list[str]:
    """Command lines that name it; a process that ends meanwhile is not there."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [line] if text in line else []
    return found


def check_nothing_is_left(runtime: Runtime, lives: list[tuple[int, str]]) -> None:
    assert {created for _, created in lives} == {"created"}
    assert [pid for pid, _ in lives if runs(pid)] == []
    assert processes_of(str(runtime.root)) == []
    assert runtime.cgroups() == []
    assert list(runtime.root.iterdir()) == []
    here = str(runtime.root.parent)
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    assert [m for m in mounts if here in m] == []


def test_containers_in_a_row_leave_nothing(runtime: Runtime, bundle: Bundle):
    folder = bundle.write("sleep", "100")
    lives = [live(runtime, folder, f"box{i}") for i in range(IN_A_ROW)]
    check_nothing_is_left(runtime, lives)


def test_containers_at_once_leave_nothing(runtime: Runtime, bundle: Bundle):
    folder = bundle.write("sleep", "100")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        names = [f"box{i}" for i in range(AT_ONCE)]
        lives = list(pool.map(lambda name: live(runtime, folder, name), names))
    assert len({pid for pid, _ in lives}) == AT_ONCE
    check_nothing_is_left(runtime, lives)
