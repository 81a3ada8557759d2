# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an image or a crash could do to the host."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from oci_kit import Bundle, Runtime, our_cgroups

KILL_POINTS = 60
MANY = 100  # system calls of one create
UNKILLABLE = {"execve", "exit_group", "fexecve", "execveat"}  # strace cannot inject there


@pytest.mark.parametrize("link", ["/", "../../../../../..", "/proc/self/root"])
def test_a_symlink_in_the_image_cannot_lead_a_mount_out_of_it(
    runtime: Runtime, bundle: Bundle, make_rootfs: Callable[[], Path], tmp_path: Path, link: str
):
    """The mechanism of CVE-2019-16884 and its kin: a mount point that is a link to the host."""
    root = make_rootfs()
    (root / "volume").symlink_to(f"{link}{tmp_path}")
    bundle.config["root"] = {"path": str(root), "readonly": False}
    (tmp_path / "source").mkdir()
    bundle.config["mounts"].append(
        {
            "destination": "/volume/inside",
            "source": str(tmp_path / "source"),
            "options": ["rbind", "ro"],
        }
    )
    runtime("run", "--bundle", bundle.write("true"), "box")
    assert not (tmp_path / "inside").exists()


def test_the_program_gets_no_descriptor_of_ours(runtime: Runtime, bundle: Bundle):
    folder = bundle.write("sh", "-c", "for f in /proc/self/fd/*; do echo ${f##*/}; done")
    said = runtime.ok("run", "--bundle", folder, "box").split()
    assert set(said) <= {"0", "1", "2", "3"}  # 3: the folder that the shell is reading


def test_a_waiting_container_shows_a_sealed_copy_as_its_program(runtime: Runtime, bundle: Bundle):
    """CVE-2019-5736: through /proc/PID/exe an image could overwrite the runtime."""
    runtime.ok("create", "--bundle", bundle.write("true"), "box")
    try:
        pid = runtime.state("box")["pid"]
        assert str(Path(f"/proc/{pid}/exe").readlink()).startswith("/memfd:")
        with pytest.raises(OSError, match=r"busy|not permitted"):
            os.close(os.open(f"/proc/{pid}/exe", os.O_WRONLY))
    finally:
        runtime.ok("delete", "--force", "box")


def test_masked_and_read_only_paths(runtime: Runtime, bundle: Bundle):
    folder = bundle.write("sh", "-c", "cat /proc/keys; echo 1 >/proc/sys/kernel/panic; echo end")
    done = runtime("run", "--bundle", folder, "box")
    assert done.stdout == "end\n"
    assert "Read-only file system" in done.stderr


def system_calls(trace: Path) -> list[tuple[str, int]]:
    """Name and how often it has been called by then, for each call in strace's file."""
    seen: Counter[str] = Counter()
    points = []
    for line in trace.read_text().splitlines():
        name = line.partition("(")[0]
        if name.isidentifier() and name not in UNKILLABLE:
            seen[name] += 1
            points.append((name, seen[name]))
    return points


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace kills the runtime")
def test_killed_anywhere_in_create_it_leaves_nothing_that_delete_cannot_remove(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    folder = bundle.write("sleep", "100")
    runtime.prefix = ["strace", "-o", str(tmp_path / "trace")]
    box = f"box-{os.getpid()}"  # somebody else may make containers meanwhile
    runtime.ok("create", "--bundle", folder, box)
    runtime.prefix = []
    runtime.ok("delete", "--force", box)
    points = system_calls(tmp_path / "trace")
    assert len(points) > MANY

    for name, nth in points[:: len(points) // KILL_POINTS]:
        runtime.prefix = [
            "strace",
            "-o",
            "/dev/null",
            "-e",
            f"inject={name}:signal=KILL:when={nth}",
        ]
        assert runtime("create", "--bundle", folder, box).returncode == -signal.SIGKILL
        runtime.prefix = []
        if box in runtime.ids():
            assert runtime.state(box)["status"] in ("creating", "created", "stopped")
        runtime.ok("delete", "--force", box)
        left = [c for c in our_cgroups() if box in c]
        assert (runtime.ids(), left) == ([], []), f"killed at {name} number {nth}"
