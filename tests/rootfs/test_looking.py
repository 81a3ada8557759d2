# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs info, check, digest, list and rm."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rootfs_kit import MadeImage, Tool, names_in, quiet

Change = Callable[[Path], object]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="chown(2) and mount(2) need root")

CHANGES: dict[str, Change] = {
    "content": lambda root: (root / "etc/hosts").write_text("1"),
    "a name": lambda root: (root / "etc/hosts").rename(root / "etc/hosts2"),
    "a mode": lambda root: (root / "etc/hosts").chmod(0o600),
    "an empty folder": lambda root: (root / "opt/empty").mkdir(),
    "a link's target": lambda root: relink(root / "bin/cat", "busybox"),
    "an attribute": lambda root: os.setxattr(root / "etc/hosts", "user.a", b"1"),
    "a hard link": lambda root: relink_hard(root / "etc/copy", root / "etc/hosts"),
    "the mode of the root itself": lambda root: root.chmod(0o700),
}


def relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def relink_hard(copy: Path, other: Path) -> None:
    copy.unlink()
    copy.hardlink_to(other)


@pytest.mark.parametrize("what", CHANGES)
def test_the_digest_sees_every_change(tool: Tool, busybox_root: Path, what: str) -> None:
    (busybox_root / "etc/copy").write_bytes((busybox_root / "etc/hosts").read_bytes())
    before = tool.ok("digest", busybox_root)

    CHANGES[what](busybox_root)

    assert tool.ok("digest", busybox_root) != before


@needs_root
def test_the_digest_sees_an_owner(tool: Tool, busybox_root: Path) -> None:
    before = tool.ok("digest", busybox_root)

    os.chown(busybox_root / "etc/hosts", 33, 0)

    assert tool.ok("digest", busybox_root) != before


def test_the_digest_does_not_see_place_or_time(tool: Tool, desk: Path) -> None:
    for name in ("one", "two"):
        tool.ok("create", desk / name, "--from", "busybox")
    os.utime(desk / "two/etc/hosts", (1, 1))

    first, second = (tool.ok("digest", desk / name) for name in ("one", "two"))

    assert first == second
    assert first.startswith("sha256:")
    assert len(first) == len("sha256:") + 64 + 1


def test_info_tells_what_an_image_is(tool: Tool, desk: Path, image: MadeImage) -> None:
    digest = tool.ok("pull", image.reference, desk / "root").strip()

    facts = json.loads(tool.ok("info", "--json", desk / "root"))

    assert facts["path"] == str(desk / "root")
    assert facts["source"] == image.reference
    assert facts["image_digest"] == digest
    assert facts["system"] == "busybox, made by timens-rootfs"
    assert facts["architecture"] == os.uname().machine
    assert facts["config"]["entrypoint"] == ["env"]
    assert facts["config"]["env"] == ["GREETING=hi"]
    assert f"image digest  {digest}\n" in tool.ok("info", desk / "root")


def test_check_finds_nothing_wrong_with_a_fresh_root(tool: Tool, busybox_root: Path) -> None:
    findings = json.loads(tool.ok("check", "--json", busybox_root))

    assert [finding for finding in findings if finding["level"] == "error"] == []
    subjects = [finding["subject"] for finding in findings]
    assert subjects[:3] == ["place", "command", "architecture"]


def foreign_elf(path: Path) -> None:
    """This host's program with the number of another machine in its header."""
    data = bytearray(path.read_bytes())
    data[18:20] = (8).to_bytes(2, "little")  # EM_MIPS
    path.write_bytes(bytes(data))


BREAKS: dict[str, tuple[Change, str, str]] = {
    "mount point": (
        lambda root: (root / "proc").rmdir(),
        "mount points: /proc is missing",
        "mkdir",
    ),
    "mount point that is a link": (
        lambda root: ((root / "dev").rmdir(), (root / "dev").symlink_to("/tmp")),
        "mount points: /dev is a link",
        "mkdir it",
    ),
    "machine": (
        lambda root: foreign_elf(root / "bin/busybox"),
        "architecture: mips, this host is",
        "--arch",
    ),
    "command": (
        lambda root: (root.parent / "root.config.json").write_text('{"config":{"Cmd":["nope"]}}'),
        "command: nope is not in the root",
        "timens-rootfs add",
    ),
    "not executable": (
        lambda root: (root / "bin/busybox").chmod(0o644),
        "command: /bin/sh is not executable",
        "chmod +x",
    ),
    "user": (
        lambda root: (root.parent / "root.config.json").write_text('{"config":{"User":"zoe"}}'),
        "users: the image runs as 'zoe', whom /etc/passwd does not know",
        "--user NUMBER",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_check_names_what_is_broken_with_a_hint(tool: Tool, busybox_root: Path, what: str) -> None:
    change, text, hint = BREAKS[what]
    change(busybox_root)

    done = tool("check", busybox_root)

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    (at,) = [n for n, line in enumerate(lines) if line.startswith("error")]
    assert text in lines[at]
    assert lines[at + 1].strip().startswith("hint: ")
    assert hint in lines[at + 1]


def test_check_misses_the_interpreter_and_the_library(tool: Tool, busybox_root: Path) -> None:
    tool.ok("add", busybox_root, "/usr/bin/bash", "--to", "/bin/sh")
    whole = tool("check", busybox_root)
    library = next(busybox_root.glob("lib/*/libtinfo.so.6"))
    library.unlink()
    without_library = tool("check", busybox_root)
    (busybox_root / "lib64/ld-linux-x86-64.so.2").unlink()
    without_interpreter = tool("check", busybox_root)

    assert whole.returncode == 0
    assert "error   interpreter: library libtinfo.so.6 is not in the root" in without_library.stdout
    assert "/lib64/ld-linux-x86-64.so.2 is not in the root" in without_interpreter.stdout


def test_list_and_rm_of_roots(tool: Tool, desk: Path) -> None:
    for name in ("one", "two"):
        tool.ok("create", desk / name, "--from", "busybox")

    tool.ok("rm", desk / "one")

    roots = json.loads(tool.ok("list", "--json"))["roots"]
    assert [(root["path"], root["source"]) for root in roots] == [(str(desk / "two"), "busybox")]
    assert names_in(desk) == ["two"]


def test_list_and_rm_of_cached_images(tool: Tool, desk: Path, registry: str) -> None:
    url = f"docker://{registry}/box:1"
    digest = tool.ok("pull", "--insecure", url, desk / "root").strip()

    (entry,) = json.loads(tool.ok("list", "--json"))["images"]
    tool.ok("rm", url)

    assert (entry["digest"], entry["names"]) == (digest, [url])
    assert json.loads(tool.ok("list", "--json"))["images"] == []
    assert names_in(tool.cache / "blobs/sha256") == []
    assert names_in(tool.cache / "flat") == []
    assert (desk / "root/opt/marker").exists()
    assert tool.refusal("rm", url).startswith(f"timens-rootfs: rm: {url}: is not in the cache\n")


def test_rm_keeps_what_was_not_made_here(tool: Tool, desk: Path) -> None:
    (desk / "photos").mkdir()
    (desk / "photos/one").write_text("dear")

    said = tool.refusal("rm", desk / "photos")

    assert said.startswith(f"timens-rootfs: rm: {desk}/photos: was not made by timens-rootfs\n")
    assert (desk / "photos/one").read_text() == "dear"
    assert "is the root of this host" in tool.refusal("rm", "--force", "/")


@pytest.mark.parametrize("name", [".", "..", "../../photos"])
def test_rm_keeps_the_current_folder_even_with_force(
    tool: Tool, desk: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (desk / "photos/deep").mkdir(parents=True)
    monkeypatch.chdir(desk / "photos/deep")

    said = tool.refusal("rm", "--force", name)

    assert said == (
        f"timens-rootfs: rm: {name}: is or holds the current folder\n"
        "hint: if you mean it, go elsewhere first: cd /\n"
    )
    assert (desk / "photos/deep").is_dir()


def test_rm_of_the_current_folder_when_it_is_a_root_made_here(
    tool: Tool, busybox_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(busybox_root)

    tool.ok("rm", ".")

    assert not busybox_root.exists()


@needs_root
def test_rm_refuses_while_something_is_mounted_inside(tool: Tool, busybox_root: Path) -> None:
    """Its content would be removed with the root: it may be somebody's home."""
    quiet("mount", "-t", "tmpfs", "tmpfs", busybox_root / "mnt")
    try:
        (busybox_root / "mnt/file").write_text("keep")
        said = tool.refusal("rm", busybox_root)
        assert f"{busybox_root}/mnt is mounted inside it" in said
        assert (busybox_root / "mnt/file").read_text() == "keep"
    finally:
        quiet("umount", busybox_root / "mnt")
