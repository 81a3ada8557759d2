# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs unpack: five kinds of archive, four ways to compress them, three kinds of user."""

import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from rootfs_kit import LAUNCHER, MadeImage, Tool, names_in, oci_layout, quiet, tar_bytes

KINDS = ["docker save", "docker save of Docker 25", "docker export", "podman save", "oci", "tar"]
PACKERS = {"gzip": ["gzip"], "zstd": ["zstd", "-q", "--rm"], "xz": ["xz", "-0"]}
ENDINGS = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz"}


@pytest.fixture(scope="session")
def archive(image: MadeImage, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """An archive of the image's root, by kind; each is made once."""
    folder = tmp_path_factory.mktemp("archives")
    folder.chmod(0o755)

    def make(kind: str) -> Path:
        path = folder / f"{kind.replace(' ', '-')}.tar"
        if not path.exists():
            MAKERS[kind](image, path)
        return path

    return make


def save(image: MadeImage, path: Path) -> None:
    quiet("skopeo", "copy", "-q", image.reference, f"docker-archive:{path}:box:1")


def save_as_docker_25(image: MadeImage, path: Path) -> None:
    """Docker since 25 writes one archive that is an OCI layout and a docker-archive at once."""
    work = path.with_suffix(".d")
    quiet("skopeo", "copy", "-q", image.reference, f"oci:{work}:1")
    index = json.loads((work / "index.json").read_text())

    def blob(digest: str) -> str:
        return "blobs/" + digest.replace(":", "/")

    manifest = json.loads((work / blob(index["manifests"][0]["digest"])).read_text())
    legacy = {
        "Config": blob(manifest["config"]["digest"]),
        "RepoTags": ["box:1"],
        "Layers": [blob(layer["digest"]) for layer in manifest["layers"]],
    }
    (work / "manifest.json").write_text(json.dumps([legacy]))
    quiet("tar", "-C", work, "-cf", path, "blobs", "index.json", "manifest.json", "oci-layout")


def save_as_oci(image: MadeImage, path: Path) -> None:
    quiet("skopeo", "copy", "-q", image.reference, f"oci-archive:{path}:1")


def export(image: MadeImage, path: Path) -> None:
    """As docker export: no leading ./ and the mark that Docker puts into containers."""
    names = [*names_in(image.root), ".dockerenv"]
    (image.root / ".dockerenv").touch()
    quiet("tar", "-C", image.root, "--xattrs", "--xattrs-include=*", "-cf", path, *names)
    (image.root / ".dockerenv").unlink()


def pack(image: MadeImage, path: Path) -> None:
    quiet("tar", "-C", image.root, "--xattrs", "--xattrs-include=*", "-cf", path, ".")


MAKERS: dict[str, Callable[[MadeImage, Path], None]] = {
    "docker save": save,
    "docker save of Docker 25": save_as_docker_25,
    "docker export": export,
    "podman save": save,  # podman save and skopeo write it with the same library
    "oci": save_as_oci,
    "tar": pack,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_unpacks_to_the_same_root(
    tool: Tool, desk: Path, image: MadeImage, archive: Callable[[str], Path], kind: str
) -> None:
    tool.ok("unpack", archive(kind), desk / "root")

    if kind == "docker export":
        (desk / "root/.dockerenv").unlink()
    assert tool.ok("digest", desk / "root") == tool.ok("digest", image.root)
    has_config = kind not in ("docker export", "tar")
    assert names_in(desk) == (["root", "root.config.json"] if has_config else ["root"])


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", ["docker save", "oci", "tar"])
def test_compressed_archives(
    tool: Tool, desk: Path, image: MadeImage, archive: Callable[[str], Path], kind: str, packer: str
) -> None:
    packed = desk.parent / "packed.tar"
    packed.write_bytes(archive(kind).read_bytes())
    quiet(*PACKERS[packer], packed)

    tool.ok("unpack", f"{packed}{ENDINGS[packer]}", desk / "root")

    assert tool.ok("digest", desk / "root") == tool.ok("digest", image.root)


@pytest.mark.parametrize("kind", ["docker save", "docker export", "podman save", "oci", "tar"])
def test_every_kind_of_user_can_unpack_and_run_it(
    run_as_anyone: object, shared_folder: Path, archive: Callable[[str], Path], kind: str
) -> None:
    """As root, as a user with ranges of ids, and as one without; then under timens-run."""
    prefix: list[str] = list(getattr(run_as_anyone, "prefix", ()))
    home = shared_folder / f"home-{os.urandom(4).hex()}"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    copy = home / "archive"
    copy.write_bytes(archive(kind).read_bytes())
    tool = Tool(home, prefix=prefix)

    tool.ok("unpack", copy, home / "root")
    ran = subprocess.run(
        [*prefix, LAUNCHER, "--boottime", "+86400", home / "root", "cat", "/opt/marker"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.stdout, ran.stderr, ran.returncode) == ("from the image\n", "", 0)
    tool.ok("rm", home / "root")
    assert names_in(home) == ["archive", "data"]


def test_the_command_of_the_image_runs_when_none_is_given(
    tool: Tool, desk: Path, archive: Callable[[str], Path]
) -> None:
    tool.ok("unpack", archive("oci"), desk / "root")

    assert tool.ok("run", desk / "root") == "from the image\n"


def test_layers_of_zstd(tool: Tool, desk: Path, image: MadeImage) -> None:
    """umoci 0.4 knows no zstd; the layers are unpacked for it and checked by their diff ids."""
    layout = desk.parent / "zstd"
    options = ["--dest-compress-format", "zstd", "--dest-compress", "--remove-signatures"]
    plain = desk.parent / "plain"
    quiet("skopeo", "copy", "-q", image.reference, f"docker-archive:{plain}:box:1")
    quiet("skopeo", "copy", "-q", *options, f"docker-archive:{plain}", f"oci:{layout}:1")
    media = {
        layer["mediaType"].rpartition("+")[2]
        for path in (layout / "blobs/sha256").iterdir()
        if path.stat().st_size < 10_000 and path.read_bytes()[:1] == b"{"
        for layer in json.loads(path.read_text()).get("layers", [])
    }
    assert media == {"zstd"}

    tool.ok("pull", f"oci:{layout}:1", desk / "root")

    assert tool.ok("digest", desk / "root") == tool.ok("digest", image.root)


def test_one_image_of_several_is_chosen_by_name(tool: Tool, desk: Path, image: MadeImage) -> None:
    path = desk.parent / "both.tar"
    quiet("tar", "-C", image.layout, "-cf", path, ".")

    said = tool.refusal("unpack", path, desk / "root")
    tool.ok("unpack", "--image", "second", path, desk / "root")

    assert said.endswith("hint: say which one: --image NAME\n")
    assert (desk / "root/opt/marker").read_text() == "from the image\n"


def test_a_layout_folder_is_an_archive_too(tool: Tool, desk: Path) -> None:
    info = tarfile.TarInfo("hello")
    layout = oci_layout(desk.parent / "made", tar_bytes((info, b"world")))

    tool.ok("unpack", layout, desk / "root")

    assert (desk / "root/hello").read_text() == "world"


def test_an_image_without_layers_is_an_empty_root(tool: Tool, desk: Path) -> None:
    tool.ok("unpack", oci_layout(desk.parent / "made"), desk / "root")

    assert names_in(desk / "root") == []
