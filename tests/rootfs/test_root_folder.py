# SPDX-License-Identifier: LGPL-2.1-or-later
"""The root itself as a member of an archive: all its names, its mode and owner, for every user."""

import hashlib
import os
import tarfile
from pathlib import Path

import pytest
from rootfs_kit import Tool, member, names_in, oci_layout, quiet, tar_bytes

from kit import USER_ID

NAMES = ["/", "./", ".", "//", "/.", ".//", "/./"]
DIR = tarfile.DIRTYPE


@pytest.fixture
def anyone(run_as_anyone: object, shared_folder: Path) -> Tool:
    """The tool of each kind of user, whose home is shared with nobody."""
    home = shared_folder / f"home-{os.urandom(4).hex()}"
    home.mkdir()
    home.chmod(0o777)
    return Tool(home, prefix=list(getattr(run_as_anyone, "prefix", ())))


def root_member(name: str, mode: int, owner: tuple[int, int] = (0, 0)) -> tarfile.TarInfo:
    info = member(name, DIR)
    info.mode = mode
    info.uid, info.gid = owner
    return info


def raw(tar: bytes, name: str) -> bytes:
    """The archive with exactly this name in its first header: tarfile tidies it."""
    header = bytearray(tar[:512])
    header[:100] = name.encode().ljust(100, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + tar[512:]


def facts(tool: Tool, root: Path) -> str:
    """Mode and owner of the root folder as its container sees it."""
    return tool.ok("run", root, "--", "stat", "-c", "%a %u:%g", "/")


@pytest.mark.parametrize("as_layer", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_each_name_of_the_root(tool: Tool, desk: Path, name: str, *, as_layer: bool) -> None:
    tar = raw(tar_bytes((root_member("r", 0o711), b""), (member("x"), b"content")), name)
    source = desk.parent / "source"
    if as_layer:
        oci_layout(source, tar, tar)
    else:
        source.write_bytes(tar)

    tool.ok("unpack", source, desk / "root")

    assert names_in(desk / "root") == ["x"]
    assert (desk / "root").stat().st_mode & 0o7777 == 0o711


@pytest.mark.parametrize("mode", [0o555, 0o1777, 0o700])
def test_mode_and_owner_of_the_root_for_every_user(anyone: Tool, mode: int) -> None:
    """A root that its owner may not write to is renamed and removed all the same."""
    busybox = Path("/bin/busybox").read_bytes()
    tar = tar_bytes(
        (root_member(".", mode, (33, 44)), b""),
        *((root_member(name, 0o755), b"") for name in ("bin", "dev", "proc", "sys", "etc", "tmp")),
        (member("bin/busybox"), busybox),
        (member("bin/stat", tarfile.SYMTYPE, "busybox"), b""),
    )
    (anyone.home / "plain").write_bytes(tar)
    oci_layout(anyone.home / "layout", tar_bytes((member("y"), b"")), tar)
    owner = "0:0" if f"--reuid={USER_ID}" in anyone.prefix else "33:44"

    for source in ("plain", "layout"):
        root = anyone.home / f"root of {source}"
        anyone.ok("unpack", anyone.home / source, root)
        assert facts(anyone, root) == f"{mode:o} {owner}\n"
        anyone.ok("rm", root)

    assert names_in(anyone.home) == ["data", "layout", "plain"]


def test_an_image_of_umoci_insert(anyone: Tool, tmp_path: Path) -> None:
    """It names "/" itself and stops after the last content: no padding, no block of zeros."""
    tree = tmp_path / "tree"
    (tree / "etc").mkdir(parents=True)
    (tree / "etc/odd").write_text("odd")
    tree.chmod(0o751)
    layout = anyone.home / "layout"
    quiet("umoci", "init", "--layout", layout)
    quiet("umoci", "new", "--image", f"{layout}:1")
    quiet("umoci", "insert", "--image", f"{layout}:1", tree, "/")
    quiet("umoci", "insert", "--image", f"{layout}:1", "--tag", "2", tree / "etc", "/more")
    quiet("chmod", "-R", "a+rX", layout)

    for tag, names in (("1", ["etc"]), ("2", ["etc", "more"])):
        root = anyone.home / tag
        anyone.ok("pull", f"oci:{layout}:{tag}", root)
        assert sorted(os.listdir(root)) == names  # noqa: PTH208
        assert (root / "etc/odd").read_text() == "odd"
        assert root.stat().st_mode & 0o7777 == 0o751


def test_layers_without_members(tool: Tool, desk: Path) -> None:
    """Docker's empty layer is two blocks of zeros; some builders write none at all."""
    full = tar_bytes((member("x"), b"content"))
    for number, layers in enumerate(([bytes(1024), full], [full, bytes(1024)], [full, b""], [b""])):
        layout = oci_layout(desk.parent / f"layout-{number}", *layers)

        tool.ok("unpack", layout, desk / str(number))

        assert names_in(desk / str(number)) == (["x"] if full in layers else [])


@pytest.mark.parametrize("below", [False, True])
def test_a_layer_that_ends_within_a_member_is_refused(
    tool: Tool, desk: Path, *, below: bool
) -> None:
    full = tar_bytes((member("x"), b"c" * 700))
    cut = full[: 512 + 699]
    layout = oci_layout(desk.parent / "layout", *([cut] if below else [full, cut]))

    said = tool.refusal("unpack", layout, desk / "root")

    digest = hashlib.sha256(cut).hexdigest()
    assert said == (
        f"timens-rootfs: unpack: {layout}: layer sha256:{digest}: the tar stream is truncated\n"
    )
    assert names_in(desk) == []


def test_a_plain_tar_without_its_end_is_refused(tool: Tool, desk: Path) -> None:
    """No digest shows that it was meant to end there."""
    path = desk.parent / "cut"
    path.write_bytes(tar_bytes((member("x"), b"c" * 512))[:1024])

    said = tool.refusal("unpack", path, desk / "root")

    assert said == f"timens-rootfs: unpack: {path}: the tar stream is truncated\n"
    assert names_in(desk) == []
