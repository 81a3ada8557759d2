# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs create: roots from nothing, all or nothing."""

import stat
from pathlib import Path

from rootfs_kit import Tool, names_in


def test_busybox_root_has_its_commands_and_mount_points(busybox_root: Path) -> None:
    assert (busybox_root / "bin/cat").readlink() == Path("/bin/busybox")
    assert {"dev", "proc", "sys", "tmp"} <= set(names_in(busybox_root))
    assert stat.S_IMODE((busybox_root / "tmp").stat().st_mode) == 0o1777


def test_nothing_is_left_beside_a_new_root(busybox_root: Path) -> None:
    assert names_in(busybox_root.parent) == ["root"]


def test_a_folder_with_content_is_refused_and_kept(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")

    done = tool("create", tmp_path, "--from", "busybox")

    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"timens-rootfs: create: {tmp_path}: is not empty"
    assert (tmp_path / "mine").read_text() == "keep me"


def test_a_missing_parent_folder_is_named(tool: Tool, tmp_path: Path) -> None:
    done = tool("create", tmp_path / "no/root", "--from", "busybox")

    assert done.returncode == 1
    assert f"{tmp_path / 'no'}: No such file or directory" in done.stderr


def test_without_ranges_busybox_can_be_made_and_debian_not(
    run_as_user: object, shared_folder: Path
) -> None:
    home = shared_folder / "plain-user"
    home.mkdir()
    home.chmod(0o777)
    tool = Tool(home, prefix=list(getattr(run_as_user, "prefix", ())))

    tool.ok("create", home / "small", "--from", "busybox")
    said = tool.refusal("create", home / "big")

    assert said == (
        "timens-rootfs: create: debian: needs root, or a user with subordinate ids\n"
        "hint: give this user ranges in /etc/subuid and /etc/subgid, or use --from busybox\n"
    )
    tool.ok("rm", home / "small")
    assert names_in(home) == ["data"]


def test_of_two_at_once_one_makes_it_and_the_other_says_so(tool: Tool, desk: Path) -> None:
    both = [tool.start("create", desk / "root", "--from", "busybox") for _ in range(2)]
    ends = sorted((child.communicate()[1], child.returncode) for child in both)

    assert ends[0] == ("", 0)
    cause, status = ends[1]
    assert status == 1
    assert cause.startswith(f"timens-rootfs: create: {desk / 'root'}: ")
    assert ": is not empty\n" in cause or cause.endswith(": Directory not empty\n")
    assert names_in(desk) == ["root"]
