# SPDX-License-Identifier: LGPL-2.1-or-later
"""The root filesystem and what is mounted in it."""

import ctypes
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

AT_FDCWD, EXCHANGE = -100, 2  # renameat2(2)
MASKED_FILES = ["/proc/kcore", "/proc/keys", "/proc/timer_list"]
MASKED_FOLDERS = ["/proc/acpi", "/proc/scsi", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def lines(result):
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_the_root_is_the_image_and_keeps_changes(run, make_rootfs):
    root = make_rootfs()

    assert lines(run(root, "sh", "-c", "echo hello >/tmp/new")) == []
    assert (root / "tmp/new").read_text() == "hello\n"


def test_nothing_of_the_host_is_in_sight(run_as_anyone, rootfs):
    inside = lines(run_as_anyone(rootfs, "sh", "-c", "ls /; cat /proc/self/mountinfo | wc -l"))

    assert inside[:-1] == ["bin", "dev", "etc", "proc", "sys", "tmp"]
    assert int(inside[-1]) < 30


def test_a_read_only_root_takes_no_change_but_has_its_devices(run_as_anyone, rootfs):
    result = run_as_anyone("--read-only", rootfs, "sh", "-c", "echo x >/dev/shm/x; echo y >/y")

    assert result.stderr == "sh: can't create /y: Read-only file system\n"
    assert not (rootfs / "y").exists()


def test_changes_to_an_overlay_vanish(run_as_anyone, make_rootfs):
    root = make_rootfs()
    script = "echo x >/new; rm /tmp/old; echo more >>/etc/hosts; ls / /tmp; cat /etc/hosts"
    (root / "tmp/old").touch()
    run_as_anyone.give(root)
    result = run_as_anyone("--overlay", root, "sh", "-c", script)

    assert lines(result)[-1] == "more"
    assert "new" in result.stdout.split()
    assert "old" not in result.stdout.split()
    assert (root / "tmp/old").exists()
    assert not (root / "new").exists()
    assert not (root / "etc/hosts").exists()


def test_changes_to_an_overlay_folder_are_kept_beside_the_image(run_as_anyone, make_rootfs):
    root, kept = make_rootfs(), make_rootfs()
    for entry in kept.iterdir():
        subprocess.run(["rm", "-rf", entry], check=True)
    run_as_anyone.give(root)
    run_as_anyone.give(kept)
    options = ["--overlay-dir", kept, root]

    assert lines(run_as_anyone(*options, "sh", "-c", "echo kept >/tmp/new")) == []
    assert lines(run_as_anyone(*options, "cat", "/tmp/new")) == ["kept"]
    assert not (root / "tmp/new").exists()
    assert (kept / "upper/tmp/new").exists()


def test_the_overlay_folder_may_hold_the_root_but_not_in_its_own_parts(run, make_rootfs, tmp_path):
    root = make_rootfs()
    for copy in ("image", "upper/image"):
        shutil.copytree(root, tmp_path / copy, symlinks=True)

    assert lines(run("--overlay-dir", tmp_path, tmp_path / "image", "touch", "/new")) == []
    assert (tmp_path / "upper/new").exists()
    assert not (tmp_path / "image/new").exists()
    assert run("--overlay-dir", tmp_path, tmp_path / "upper/image", "true").stderr == (
        f"timens-run: command line: the root filesystem is in upper or work of {tmp_path}: "
        "Invalid argument\nhint: give a folder beside it\n"
    )


def test_a_read_only_overlay_makes_its_mount_points_in_memory(run_as_anyone, make_rootfs):
    """Neither the image nor what the command sees can be changed; both words are meant."""
    root = make_rootfs()
    script = "grep -c ' /a/b ' /proc/mounts; touch /new"
    result = run_as_anyone("--read-only", "--overlay", "--tmpfs", "/a/b", root, "sh", "-c", script)

    assert (result.stdout, result.stderr) == ("1\n", "touch: /new: Read-only file system\n")
    assert not (root / "a").exists()


def test_an_overlay_folder_with_a_colon_and_a_comma_is_only_a_folder(run, make_rootfs):
    root, other = make_rootfs(), make_rootfs()
    kept = other / "tmp/a:b,c=d"
    kept.mkdir()

    assert lines(run("--overlay-dir", kept, root, "touch", "/new")) == []
    assert (kept / "upper/new").exists()


def test_bind_mounts_can_be_written_and_read_only_ones_cannot(run_as_anyone, rootfs, make_rootfs):
    host = make_rootfs()
    script = "echo inside >/a/tmp/file; cat /b/tmp/file; echo x >/b/tmp/other"
    for name in ("a", "b"):
        (rootfs / name).mkdir(exist_ok=True)
    result = run_as_anyone(
        "--bind", f"{host}:/a", "--ro-bind", f"{host}:/b", rootfs, "sh", "-c", script
    )
    for name in ("a", "b"):
        (rootfs / name).rmdir()

    assert result.stdout == "inside\n"
    assert result.stderr == "sh: can't create /b/tmp/other: Read-only file system\n"
    assert (host / "tmp/file").read_text() == "inside\n"


def test_a_relative_bind_source_is_the_callers(run, make_rootfs):
    root = make_rootfs()
    result = run("--ro-bind", "etc/passwd:/deep/in/file", root, "cat", "/deep/in/file", cwd="/")

    assert result.stdout == Path("/etc/passwd").read_text(encoding="utf-8")


def test_a_tmpfs_covers_what_was_there(run_as_anyone, rootfs):
    options = ["--tmpfs", "/etc:size=4k,mode=700", "--tmpfs", "/tmp"]
    script = "ls /etc; stat -c %a /etc /tmp; grep -c ' /etc tmpfs rw,nosuid,nodev,' /proc/mounts"

    assert lines(run_as_anyone(*options, rootfs, "sh", "-c", script)) == ["700", "1777", "1"]


def test_default_devices_and_folders_are_those_of_oci(run_as_anyone, rootfs):
    script = "cd /dev; ls; for l in fd stdin stdout stderr ptmx; do readlink $l; done"
    names = "fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero"
    links = ["/proc/self/fd", *(f"/proc/self/fd/{n}" for n in range(3)), "pts/ptmx"]

    assert lines(run_as_anyone(rootfs, "sh", "-c", script)) == [*names.split(), *links]


def test_default_devices_work(run_as_anyone, rootfs):
    script = """
        echo x >/dev/null && cat /dev/null && head -c 2 /dev/zero | od -An -tx1
        head -c 9 /dev/urandom | wc -c; head -c 9 /dev/random | wc -c; echo x >/dev/full
    """
    result = run_as_anyone(rootfs, "sh", "-c", script)

    assert result.stdout.split() == ["00", "00", "9", "9"]
    assert "No space left on device" in result.stderr


def test_masked_paths_are_empty_and_read_only_paths_refuse(run_as_anyone, rootfs):
    files, folders, read_only = (
        " ".join(p for p in paths if Path(p).exists())
        for paths in (MASKED_FILES, MASKED_FOLDERS, READ_ONLY)
    )
    script = f"""
        for f in {files}; do [ -c $f ] && head -c 1 $f; done
        for d in {folders}; do ls -A $d; done
        for p in {read_only}; do grep -c "^proc $p proc ro," /proc/mounts; done
        echo 1 >/proc/sys/kernel/panic
    """
    result = run_as_anyone("--cap-add", "sys_admin", rootfs, "sh", "-c", script)

    assert result.stdout.split() == ["1"] * len(read_only.split())
    assert result.stderr == "sh: can't create /proc/sys/kernel/panic: Read-only file system\n"


def test_plain_trees_have_no_masks_and_none_is_the_images_own(run, rootfs):
    options = ["--proc", "plain", "--sys", "none", "--dev", "none"]
    script = "grep -c '/proc/' /proc/mounts; ls -A /dev /sys"

    assert run(*options, rootfs, "sh", "-c", script).stdout.split() == ["0", "/dev:", "/sys:"]


def test_a_root_owned_by_others_is_mapped_without_a_chown(run, make_rootfs):
    if os.geteuid() != 0:
        pytest.skip("only root may map the owners of files")
    root = make_rootfs()
    result = run("--map-users", "0:700000:1000", root, "sh", "-c", "stat -c %u:%g /; touch /new")

    assert lines(result) == ["0:0"]
    assert ((root / "new").stat().st_uid, (root / "new").stat().st_gid) == (0, 0)


def test_a_root_chowned_to_the_ids_outside_is_taken_as_it_is(run, make_rootfs):
    if os.geteuid() != 0:
        pytest.skip("only root may chown")
    root = make_rootfs()
    os.chown(root, 700000, 700000)
    os.chown(root / "tmp", 700000, 700000)
    result = run(
        "--map-users", "0:700000:1000", root, "sh", "-c", "stat -c %u:%g /; touch /tmp/new"
    )

    assert lines(result) == ["0:0"]
    assert (root / "tmp/new").stat().st_uid == 700000


@pytest.mark.parametrize("link", ["/etc", "../../../../../../etc", "/proc/1/root/etc"])
def test_a_symlink_in_the_image_leads_no_mount_out_of_it(run_as_anyone, make_rootfs, link):
    """The image's /opt points to "/etc": that is the image's /etc, and never the host's."""
    root, host = make_rootfs(), make_rootfs()
    (root / "opt").symlink_to(link)
    (host / "marker").touch()
    before = sorted(Path("/etc").iterdir())
    result = run_as_anyone("--bind", f"{host}:/opt", root, "ls", "/etc/marker")

    assert sorted(Path("/etc").iterdir()) == before
    if link.startswith("/proc"):
        assert result.returncode == 125
        assert "in the root filesystem" in result.stderr
    else:
        assert lines(result) == ["/etc/marker"]


def test_standard_folders_that_are_symlinks_stay_beneath_the_root(run, make_rootfs):
    root = make_rootfs()
    for name in ("proc", "sys", "dev"):
        (root / name).rmdir()
        (root / f"real-{name}").mkdir()
        (root / name).symlink_to(f"/real-{name}")

    assert lines(run(root, "sh", "-c", "ls /real-proc/self/comm /real-dev/null")) == [
        "/real-dev/null",
        "/real-proc/self/comm",
    ]


def test_a_missing_target_beneath_a_dangling_link_is_refused(run, make_rootfs):
    root = make_rootfs()
    (root / "opt").symlink_to("/nowhere/at/all")
    result = run("--tmpfs", "/opt", root, "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: mounts: cannot open /opt in the root filesystem: No such file or directory\n"
    )


def test_a_target_that_is_swapped_while_we_mount_never_leads_out(run, make_rootfs, shared_folder):
    """Somebody exchanges a folder and a link to the host's folder as fast as possible."""
    root, host = make_rootfs(), make_rootfs()
    victim = shared_folder / "victim"
    victim.mkdir()
    (root / "a").mkdir()
    (root / "b").symlink_to(victim)
    stop = threading.Event()
    libc = ctypes.CDLL(None)

    def swap():
        while not stop.is_set():
            libc.renameat2(AT_FDCWD, bytes(root / "a"), AT_FDCWD, bytes(root / "b"), EXCHANGE)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(30):
            result = run("--bind", f"{host}:/a/x", root, "true")
            assert result.returncode in (0, 125)
            assert list(victim.iterdir()) == []
    finally:
        stop.set()
        swapper.join()
    victim.rmdir()


def test_a_fifo_as_passwd_hangs_nobody(run, make_rootfs):
    root = make_rootfs()
    (root / "etc/passwd").unlink()
    os.mkfifo(root / "etc/passwd")
    result = run("--user", "app", root, "true", timeout_s=5)

    assert result.stderr == (
        "timens-run: command line: no user 'app' in /etc/passwd of the root filesystem: "
        "Invalid argument\n"
    )
