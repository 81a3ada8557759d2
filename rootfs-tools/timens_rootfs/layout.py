# SPDX-License-Identifier: LGPL-2.1-or-later
"""An OCI image layout on disk: which manifest, config and layers an image has.

Source: OCI image-spec, "Image Layout Specification", "Image Manifest", "Image Configuration".
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timens_rootfs.compressed import CHUNK, compression, plain_bytes
from timens_rootfs.errors import RootfsError, os_cause

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
TAG = "image"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
PLAIN_LAYER = "application/vnd.oci.image.layer.v1.tar"
GZIP_LAYER = f"{PLAIN_LAYER}+gzip"


@dataclass(frozen=True)
class Image:
    """What the manifest of one image names."""

    digest: str
    manifest_size: int
    config: str
    layers: tuple[str, ...]
    layer_types: tuple[str, ...]

    def blobs(self) -> tuple[str, ...]:
        """Digests of all files that make up the image."""
        return (self.digest, self.config, *self.layers)


def blob(layout: Path, digest: str) -> Path:
    """The file that holds what has this digest."""
    if not DIGEST.fullmatch(digest):
        raise RootfsError("image", digest, "is not a sha256 digest")
    return layout / "blobs/sha256" / digest.removeprefix("sha256:")


def read(layout: Path) -> Image:
    """The one image of a layout."""
    index = _json(layout / "index.json")
    try:
        descriptor = index["manifests"][0]
        digest = str(descriptor["digest"])
    except (KeyError, IndexError, TypeError) as error:
        raise RootfsError("image", layout, "index.json names no image") from error
    return of_manifest(layout, digest)


def of_manifest(layout: Path, digest: str) -> Image:
    """The image whose manifest has this digest."""
    path = blob(layout, digest)
    manifest = _json(path)
    try:
        return Image(
            digest=digest,
            manifest_size=path.stat().st_size,
            config=str(manifest["config"]["digest"]),
            layers=tuple(str(layer["digest"]) for layer in manifest["layers"]),
            layer_types=tuple(str(layer["mediaType"]) for layer in manifest["layers"]),
        )
    except (KeyError, TypeError) as error:
        raise RootfsError("image", digest, "its manifest is incomplete") from error


def config(layout: Path, image: Image) -> dict[str, Any]:
    """The image's config, whose key "config" holds Entrypoint, Cmd, Env and the like."""
    return _json(blob(layout, image.config))


def diff_ids(layout: Path, image: Image) -> list[str]:
    """The digests of the layers once they are decompressed."""
    found = config(layout, image).get("rootfs", {}).get("diff_ids", [])
    if len(found) != len(image.layers):
        raise RootfsError("image", image.digest, "its config does not name all layers")
    return [str(each) for each in found]


def write_index(layout: Path, digest: str, size: int) -> None:
    """Make `layout` a layout of the one image that has this manifest, tagged TAG."""
    descriptor = {
        "mediaType": MANIFEST,
        "digest": digest,
        "size": size,
        "annotations": {"org.opencontainers.image.ref.name": TAG},
    }
    index = {"schemaVersion": 2, "manifests": [descriptor]}
    (layout / "index.json").write_text(json.dumps(index))
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


def is_intact(layout: Path, image: Image) -> bool:
    """Whether every blob of the image still has its digest."""
    return all(
        path.is_file() and "sha256:" + sha256(path) == digest
        for digest in image.blobs()
        for path in [blob(layout, digest)]
    )


def sha256(path: Path) -> str:
    """The digest of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def for_umoci(layout: Path, image: Image, *, skip: int, step: str) -> Image:
    """The image as umoci 0.4 takes it, less its first `skip` layers: gzip or plain, named so.

    zstd layers become plain tars; their digests stand in the image's config (diff_ids), so that
    umoci checks what came out of zstd as it checks everything else.  skopeo 1.9 calls plain
    layers gzip when it brings them from docker-archive or containers-storage: the first bytes
    of a layer tell what it is.
    """
    forms = [compression(blob(layout, digest)) for digest in image.layers]
    wanted = tuple(GZIP_LAYER if form == "gzip" else PLAIN_LAYER for form in forms)
    if wanted == image.layer_types and not skip:
        return image
    manifest = _json(blob(layout, image.digest))
    sums = diff_ids(layout, image)
    for layer, form, kind, diff_id in zip(manifest["layers"], forms, wanted, sums, strict=True):
        layer["mediaType"] = kind
        if form not in ("gzip", None):
            plain = blob(layout, diff_id)
            if not plain.exists():
                _unzip(blob(layout, layer["digest"]), plain, step=step)
            layer.update(digest=diff_id, size=plain.stat().st_size)
    new_config = config(layout, image)
    new_config["rootfs"]["diff_ids"] = sums[skip:]
    manifest["layers"] = manifest["layers"][skip:]
    manifest["config"].update(_put(layout, new_config))
    described = _put(layout, manifest)
    write_index(layout, str(described["digest"]), int(described["size"]))
    return of_manifest(layout, str(described["digest"]))


def _put(layout: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Write a blob; returns its digest and size."""
    text = json.dumps(content).encode()
    digest = "sha256:" + hashlib.sha256(text).hexdigest()
    blob(layout, digest).write_bytes(text)
    return {"digest": digest, "size": len(text)}


def _unzip(source: Path, target: Path, *, step: str) -> None:
    with plain_bytes(source, step=step) as stream, target.open("xb") as out:
        while data := stream.read(CHUNK):
            out.write(data)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise RootfsError("image", path, os_cause(error)) from error
    except ValueError as error:
        raise RootfsError("image", path, "is not JSON") from error
    if not isinstance(found, dict):
        raise RootfsError("image", path, "is not a JSON object")
    return found
