# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hostile archives: a clear refusal, exit status 1, nothing left, nothing touched outside."""

import contextlib
import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rootfs_kit import Tool, member, names_in, oci_layout, tar_bytes

from timens_rootfs import plain
from timens_rootfs.compressed import Truncated
from timens_rootfs.errors import RootfsError
from timens_rootfs.guard import Budget, Guard

LINK, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE
DEVICE, BLOCK, DIR = tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE
Corpus = dict[str, tuple[list[tarfile.TarInfo], str]]

CORPUS: Corpus = {
    "absolute path": ([member("/etc/x")], "'/etc/x' has an absolute path"),
    "climbing path": ([member("a/../../x")], "'a/../../x' has a path with '..'"),
    "only dots": ([member("..", DIR)], "'../' has a path with '..'"),
    "link above the root": (
        [member("l", LINK, "../../etc")],
        "'l' is a link out of the root, to '../../etc'",
    ),
    "deep link above the root": (
        [member("a/b/l", LINK, "../../../etc")],
        "'a/b/l' is a link out of the root, to '../../../etc'",
    ),
    "link above the root by another link": (
        [member("a/up", LINK, ".."), member("l", LINK, "a/up/../x")],
        "'l' is a link out of the root, to 'a/up/../x'",
    ),
    "device": ([member("null", DEVICE)], "'null' is a device node"),
    "disk": ([member("dev/sda", BLOCK)], "'dev/sda' is a device node"),
    "hard link to the host": (
        [member("s", HARD, "/etc/shadow")],
        "'s' is a hard link out of the root, to '/etc/shadow'",
    ),
    "hard link that climbs": (
        [member("s", HARD, "../../etc/shadow")],
        "'s' is a hard link out of the root, to '../../etc/shadow'",
    ),
    "link instead of the root": ([member(".", LINK, "/etc")], "'.' would replace the root itself"),
    "unknown type": ([member("v", b"V")], "'v' has an unknown type b'V'"),
    "sparse file": ([member("s", b"S")], "'s' is stored as a sparse file"),
}
# umoci resolves every way inside the root, so these are only refused in plain tars.
PLAIN_CORPUS: Corpus = {
    "file beneath a link to the host": (
        [member("l", LINK, "/tmp"), member("l/x")],
        "'l/x' lies beneath a link that leads out of the root",
    ),
    "hard link through a link": (
        [member("l", LINK, "/etc"), member("s", HARD, "l/shadow")],
        "'s' is a hard link out of the root, to 'l/shadow'",
    ),
    "hard link to nothing": (
        [member("s", HARD, "etc/shadow")],
        "'s' is a hard link to 'etc/shadow', which the archive does not hold",
    ),
}


@pytest.fixture
def untouched(desk: Path) -> Iterator[None]:
    """After the test nothing is left in the desk, and its surroundings are as they were."""
    watched = [Path("/etc/passwd"), Path("/etc/shadow"), desk.parent]
    before = [facts_of(path) for path in watched]
    yield
    assert names_in(desk) == []
    assert [facts_of(path) for path in watched] == before


def facts_of(path: Path) -> object:
    if path.is_dir():
        return sorted(name for name in names_in(path) if name not in ("home", "hostile", "layout"))
    facts = path.stat()
    return facts.st_nlink, facts.st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()


def archive_of(members: list[tarfile.TarInfo]) -> bytes:
    harmless = (member("first"), b"harmless")
    return tar_bytes(harmless, *((info, b"") for info in members))


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", [*CORPUS, *PLAIN_CORPUS])
def test_hostile_plain_tar(tool: Tool, desk: Path, name: str) -> None:
    members, cause = (CORPUS | PLAIN_CORPUS)[name]
    path = desk.parent / "hostile"
    path.write_bytes(archive_of(members))

    said = tool.refusal("unpack", path, desk / "root")

    assert said.startswith(f"timens-rootfs: unpack: {path}: hostile archive: {cause}")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", CORPUS)
def test_hostile_layer(tool: Tool, desk: Path, name: str) -> None:
    members, cause = CORPUS[name]
    layout = oci_layout(desk.parent / "layout", archive_of(members))

    said = tool.refusal("unpack", layout, desk / "root")

    assert said.startswith(f"timens-rootfs: unpack: {layout}: hostile archive: {cause}")


@pytest.mark.usefixtures("untouched")
def test_hostile_image_archive(tool: Tool, desk: Path) -> None:
    """A blob that is a link to a file of the host is not followed."""
    path = desk.parent / "hostile"
    blob = member("blobs/sha256/" + "0" * 64, LINK, "../../../../../etc/shadow")
    path.write_bytes(tar_bytes((member("oci-layout"), b"{}"), (blob, b"")))

    said = tool.refusal("unpack", path, desk / "root")

    assert "is a link out of the root, to '../../../../../etc/shadow'" in said


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("as_layer", [False, True])
def test_decompression_bomb(tool: Tool, desk: Path, *, as_layer: bool) -> None:
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb", compresslevel=1) as out:
        info = member("zeros")
        info.size = 4 << 30
        out.write(info.tobuf())
        for _ in range(40):  # and then it stops: nobody should come this far
            out.write(bytes(1 << 20))
    path = desk.parent / "hostile"
    path.write_bytes(bomb.getvalue())
    source = path
    if as_layer:
        source = oci_layout(desk.parent / "layout", bomb.getvalue(), media="tar+gzip")

    said = tool.refusal("unpack", "--max-size", "10M", source, desk / "root")

    assert said == (
        f"timens-rootfs: unpack: {source}: unpacks to more than --max-size (10485760 bytes)\n"
    )


@pytest.mark.usefixtures("untouched")
def test_a_bomb_of_small_files(tool: Tool, desk: Path) -> None:
    path = desk.parent / "hostile"
    path.write_bytes(tar_bytes(*((member(f"f{n}"), b"") for n in range(300))))

    said = tool.refusal("unpack", "--max-size", "100K", path, desk / "root")

    assert "unpacks to more than --max-size (102400 bytes)" in said


def test_links_within_the_root_are_fine(tool: Tool, desk: Path) -> None:
    """Absolute links are in every Debian root; a container reads them from its own root."""
    path = desk.parent / "fine"
    path.write_bytes(
        archive_of(
            [
                member("usr/bin/sh"),
                member("bin", LINK, "usr/bin"),
                member("etc/mtab", LINK, "/proc/self/mounts"),
                member("usr/lib/up", LINK, "../../etc/mtab"),
                member("bin/bash"),
                member("again", HARD, "usr/bin/sh"),
            ]
        )
    )

    tool.ok("unpack", path, desk / "root")

    assert (desk / "root/etc/mtab").readlink() == Path("/proc/self/mounts")
    assert (desk / "root/usr/bin/bash").is_file()
    assert (desk / "root/again").samefile(desk / "root/usr/bin/sh")


PARTS = st.sampled_from(["a", "b", "c", "..", ".", "", "etc", "l"])
PATHS = st.builds(
    lambda slash, parts: slash + "/".join(parts),
    st.sampled_from(["", "", "/", "./"]),
    st.lists(PARTS, min_size=1, max_size=4),
)
KINDS = st.sampled_from([tarfile.REGTYPE, DIR, LINK, LINK, HARD, DEVICE, tarfile.FIFOTYPE, b"V"])
MEMBERS = st.lists(st.builds(member, PATHS, KINDS, PATHS), min_size=1, max_size=8)
FEW = settings(
    deadline=None,
    max_examples=80,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FEW
@given(members=MEMBERS)
def test_no_archive_writes_outside_its_root(
    tmp_path_factory: pytest.TempPathFactory, members: list[tarfile.TarInfo]
) -> None:
    """Whatever the members are: refused with a reason, or unpacked below the root alone."""
    around = tmp_path_factory.mktemp("around")
    root = around / "deep/root"
    root.mkdir(parents=True)
    (around / "etc").mkdir()
    (around / "etc/secret").write_text("secret")
    stream = io.BytesIO(archive_of(members))

    with contextlib.suppress(RootfsError):
        plain.unpack(stream, root, Guard("archive", step="unpack", budget=Budget(1 << 20)))

    assert names_in(around) == ["deep", "etc"]
    assert names_in(around / "deep") == ["root"]
    assert names_in(around / "etc") == ["secret"]
    assert (around / "etc/secret").stat().st_nlink == 1
    assert not any(path.is_char_device() for path in root.rglob("*") if not path.is_symlink())


@FEW
@given(data=st.data())
def test_no_damage_passes_for_a_whole_archive(data: st.DataObject) -> None:
    """Cut anywhere, or with any byte of a header changed, it is refused or judged the same."""
    whole = archive_of([member("dir", DIR), member("dir/l", LINK, "../x"), member("x")])
    end = whole.rindex(b"ustar") // 512 * 512 + 512
    at = data.draw(st.integers(0, end - 1))
    cut = data.draw(st.booleans())
    other = bytes([whole[at] ^ data.draw(st.integers(1, 255))])
    damaged = whole[:at] if cut else whole[:at] + other + whole[at + 1 :]
    guard = Guard("archive", step="unpack", budget=Budget(None))

    if 512 <= at < 1024 and not cut:  # the content of the first member: no header
        plain.judge_only(io.BytesIO(damaged), guard)
        return
    with pytest.raises((RootfsError, Truncated)):
        plain.judge_only(io.BytesIO(damaged), guard)
