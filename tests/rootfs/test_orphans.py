# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a killed run leaves is swept by the next, but not what is in use and not what is mounted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rootfs_kit import TREE, Tool, names_in, quiet, words_that_name

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mount(2) needs root")
# A stage where a program works that has a child of its own, whose number it tells.
WORKER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from timens_rootfs import stage, tools
with stage.work_folder(Path(sys.argv[2]), step="test"):
    script = 'sleep 60 & echo "$! $$" > "$0.new"; mv "$0.new" "$0"; wait'
    tools.run(["sh", "-c", script, sys.argv[3]], step="test", thing="sh")
"""


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_stage_is_kept_while_a_program_of_a_killed_run_works_there(
    tool: Tool, desk: Path, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    argv = [sys.executable, "-c", WORKER, TREE / "rootfs-tools", desk, told]
    with subprocess.Popen(argv) as maker:
        end = time.monotonic() + 20
        while not told.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        maker.kill()
    grandchild, child = map(int, told.read_text().split())
    (orphan,) = names_in(desk)
    try:
        wait_until_gone(child)  # it dies with the run that started it
        tool.ok("create", desk / "one", "--from", "busybox")
        assert names_in(desk) == [orphan, "one"]
    finally:
        os.kill(grandchild, 9)
    wait_until_gone(grandchild)

    tool.ok("create", desk / "two", "--from", "busybox")

    assert names_in(desk) == ["one", "two"]


# As mmdebstrap is started: it mounts, and it forks.
APART_WORKER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from timens_rootfs import mounts, stage, tools
with stage.work_folder(Path(sys.argv[2]), step="test") as place:
    apart = mounts.own_namespaces()
    script = 'mount -t tmpfs tmpfs "$1"; sh -c "sleep 600; :" "$1/fork" & touch "$0"; wait'
    argv = [*apart.argv, "sh", "-c", script, sys.argv[3], str(place)]
    tools.run(argv, step="test", thing="sh", stop=apart.stop)
"""


@needs_root
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_forks_in_its_own_namespaces_dies_with_its_run(
    tool: Tool, desk: Path, tmp_path: Path, number: signal.Signals
) -> None:
    told = tmp_path / "told"
    argv = [sys.executable, "-c", APART_WORKER, TREE / "rootfs-tools", desk, told]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as maker:
        end = time.monotonic() + 20
        while not told.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        assert len(words_that_name(desk)) >= 2  # the shell and what it forked
        maker.send_signal(number)
    end = time.monotonic() + 10
    while words_that_name(desk):
        assert time.monotonic() < end
        time.sleep(0.02)

    tool.ok("create", desk / "root", "--from", "busybox")

    assert names_in(desk) == ["root"]


@needs_root
def test_what_is_mounted_in_an_orphan_is_unmounted_and_not_removed(
    tool: Tool, desk: Path, tmp_path: Path
) -> None:
    """A shared mount with another inside it, as /sys is: the original must keep its parts."""
    original = tmp_path / "original"
    (original / "part").mkdir(parents=True)
    inside = desk / ".timens-rootfs-killed/root/a folder, ä"
    inside.mkdir(parents=True)
    quiet("mount", "-t", "tmpfs", "tmpfs", original)
    try:
        quiet("mount", "--make-shared", original)
        (original / "part").mkdir()
        quiet("mount", "-t", "tmpfs", "tmpfs", original / "part")
        (original / "part/file").write_text("keep")
        quiet("mount", "--rbind", original, inside)

        tool.ok("create", desk / "root", "--from", "busybox")

        assert names_in(desk) == ["root"]
        assert (original / "part/file").read_text() == "keep"
        assert str(desk) not in Path("/proc/self/mountinfo").read_text()
    finally:
        quiet("umount", "-R", original)


@needs_root
def test_an_orphan_whose_mount_stays_is_left_with_a_warning(
    run_as_user: object, shared_folder: Path
) -> None:
    home = shared_folder / "orphan-home"
    orphan = home / ".timens-rootfs-killed"
    (orphan / "mnt").mkdir(parents=True)
    for folder in (home, orphan, orphan / "mnt"):
        folder.chmod(0o777)
    quiet("mount", "-t", "tmpfs", "-o", "mode=777", "tmpfs", orphan / "mnt")
    try:
        (orphan / "mnt/file").write_text("keep")
        tool = Tool(home, prefix=list(getattr(run_as_user, "prefix", ())))

        done = tool("create", home / "root", "--from", "busybox")

        assert (done.returncode, done.stderr) == (
            0,
            f"timens-rootfs: warning: {orphan}: is left there: "
            f"{orphan}/mnt is mounted inside it\nhint: umount {orphan}/mnt\n",
        )
        assert (orphan / "mnt/file").read_text() == "keep"
    finally:
        quiet("umount", orphan / "mnt")
    tool.ok("rm", home / "root")
