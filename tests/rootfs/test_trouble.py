# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interrupted, starved of disk, cut off, forged: each fails with its reason and leaves nothing."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rootfs_kit import BadRegistry, MadeImage, Tool, member, names_in, quiet, tar_bytes

StartRegistry = Callable[..., tuple[str, object]]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tmpfs needs root")


@pytest.fixture
def bad_registry(image: MadeImage, tmp_path: Path) -> Iterator[Callable[..., BadRegistry]]:
    """A registry that spoils layers: by spoil(bytes), or by stopping in the middle of one."""
    copy = tmp_path / "served"
    quiet("skopeo", "copy", "-q", image.reference, f"oci:{copy}:1")
    started: list[BadRegistry] = []

    def start(
        spoil: Callable[[bytes], bytes] = lambda content: content, *, stall: bool = False
    ) -> BadRegistry:
        started.append(BadRegistry(copy, spoil, stall=stall))
        return started[-1]

    yield start
    for registry in started:
        registry.close()


def cache_files(tool: Tool) -> list[str]:
    """What a pull left in the cache beside its folders and locks."""
    files = [path.relative_to(tool.cache) for path in tool.cache.rglob("*") if path.is_file()]
    return [str(path) for path in files if path.parts[0] not in ("lock", "locks")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_pull_leaves_nothing(
    tool: Tool, desk: Path, bad_registry: Callable[..., BadRegistry], number: signal.Signals
) -> None:
    registry = bad_registry(stall=True)
    child = tool.start("pull", "--insecure", registry.reference, desk / "root")
    assert registry.asked_for_blob.wait(20)

    child.send_signal(number)
    _, said = child.communicate(timeout=30)

    assert (child.returncode, said) == (
        130,
        "timens-rootfs: interrupted, nothing was left behind\n",
    )
    assert names_in(desk) == []
    assert cache_files(tool) == []


def test_what_a_killed_pull_left_is_removed_by_the_next(
    tool: Tool, desk: Path, bad_registry: Callable[..., BadRegistry], image: MadeImage
) -> None:
    stalled = bad_registry(stall=True)
    child = tool.start("pull", "--no-cache", "--insecure", stalled.reference, desk / "root")
    assert stalled.asked_for_blob.wait(20)
    child.kill()
    child.communicate()
    assert len(names_in(desk)) == 1  # the orphan
    stalled.close()

    tool.ok("pull", image.reference, desk / "root")

    assert names_in(desk) == ["root", "root.config.json"]


def flipped(content: bytes) -> bytes:
    return content[:1000] + bytes([content[1000] ^ 1]) + content[1001:]


def test_a_forged_layer_is_refused(
    tool: Tool, desk: Path, bad_registry: Callable[..., BadRegistry]
) -> None:
    said = tool.refusal("pull", "--insecure", bad_registry(flipped).reference, desk / "root")

    assert "did not match" in said or "Digest did not match" in said
    assert names_in(desk) == []
    assert cache_files(tool) == []


def test_a_layer_that_stops_early_is_refused(
    tool: Tool, desk: Path, bad_registry: Callable[..., BadRegistry]
) -> None:
    registry = bad_registry(lambda content: content[:-2000])

    said = tool.refusal("pull", "--insecure", registry.reference, desk / "root")

    assert "unexpected EOF" in said or "did not match" in said
    assert names_in(desk) == []
    assert cache_files(tool) == []


def test_a_wrong_digest_in_the_name_is_refused(tool: Tool, desk: Path, registry: str) -> None:
    url = f"docker://{registry}/box@sha256:{'0' * 64}"

    said = tool.refusal("pull", "--insecure", url, desk / "root")

    assert "manifest unknown" in said
    assert names_in(desk) == []


@pytest.mark.parametrize(
    ("kind", "packer"),
    [
        ("tar", None),
        ("tar", "gzip"),
        ("tar", "zstd"),
        ("tar", "xz"),
        ("docker-archive", None),
        ("docker-archive", "zstd"),
        ("oci-archive", "gzip"),
    ],
)
def test_a_truncated_archive_is_refused(
    tool: Tool, desk: Path, image: MadeImage, kind: str, packer: str | None
) -> None:
    path = desk.parent / "whole"
    if kind == "tar":
        quiet("tar", "-C", image.root, "-cf", path, ".")
    else:
        quiet("skopeo", "copy", "-q", image.reference, f"{kind}:{path}:box:1")
    whole = path.read_bytes()
    if packer is not None:
        whole = subprocess.run([packer, "-1c", path], capture_output=True, check=True).stdout
    path.write_bytes(whole[: len(whole) * 2 // 3])

    said = tool.refusal("unpack", path, desk / "root")

    assert said == (f"timens-rootfs: unpack: {path}: the {packer or 'tar'} stream is truncated\n")
    assert names_in(desk) == []


@pytest.mark.parametrize("content", [b"", b"no tar at all" * 100, bytes(2048)])
def test_what_is_no_archive_is_refused(tool: Tool, desk: Path, content: bytes) -> None:
    path = desk.parent / "file"
    path.write_bytes(content)

    said = tool.refusal("unpack", path, desk / "root")

    assert "truncated" in said or "not a tar archive" in said
    assert names_in(desk) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A tmpfs of 2 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    quiet("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk)
    yield disk
    quiet("umount", disk)


@needs_root
def test_a_full_disk_under_a_plain_tar(tool: Tool, small_disk: Path, tmp_path: Path) -> None:
    path = tmp_path / "big.tar"
    path.write_bytes(tar_bytes((member("big"), bytes(3 << 20))))

    said = tool.refusal("unpack", path, small_disk / "root")

    assert "No space left on device" in said
    assert said.endswith("hint: free some space, or choose another disk\n")
    assert names_in(small_disk) == []


@needs_root
def test_a_full_disk_under_the_layers(tool: Tool, small_disk: Path, image: MadeImage) -> None:
    (small_disk / "filler").write_bytes(bytes(1 << 20))

    said = tool.refusal("pull", image.reference, small_disk / "root")

    assert "o space left on device" in said
    assert names_in(small_disk) == ["filler"]


@needs_root
def test_a_full_disk_under_the_cache(small_disk: Path, desk: Path, image: MadeImage) -> None:
    (small_disk / "filler").write_bytes(bytes(1 << 20))
    tool = Tool(small_disk)

    said = tool.refusal("pull", image.reference, desk / "root")

    assert "o space left on device" in said
    assert names_in(desk) == []
    assert cache_files(tool) == []


@needs_root
def test_a_full_disk_under_create_and_add(tool: Tool, small_disk: Path) -> None:
    tool.ok("create", small_disk / "root", "--from", "busybox")
    before = tool.ok("digest", small_disk / "root")

    said = tool.refusal("add", small_disk / "root", "/usr/bin/bash")
    second = tool.refusal("create", small_disk / "two", "--from", "busybox")

    for text in (said, second):
        assert "No space left on device" in text
    assert names_in(small_disk) == ["root"]
    assert tool.ok("digest", small_disk / "root") == before


def test_a_missing_program_is_named_with_its_package(
    tool: Tool, desk: Path, tmp_path: Path
) -> None:
    """A PATH where nothing else can be found stands in for a machine without umoci."""
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1));"
        "from timens_rootfs import tools; tools.SEARCH_PATH = sys.argv.pop(1);"
        "from timens_rootfs.cli import main; sys.exit(main())"
    )
    source = Path(__file__).parents[2] / "rootfs-tools"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script, source, tmp_path, "pull", "oci:/x:y", desk / "root"],
        capture_output=True,
        text=True,
        env=tool.env,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == (
        "timens-rootfs: pull: skopeo: program not found\nhint: apt-get install skopeo\n"
    )
