# SPDX-License-Identifier: LGPL-2.1-or-later
"""Unpack an archive of whatever kind: of an image, or of a root filesystem itself."""

import re
from pathlib import Path

from timens_rootfs import image, plain, progress, stage
from timens_rootfs.compressed import CHUNK, compression, plain_bytes
from timens_rootfs.errors import RootfsError, os_cause
from timens_rootfs.guard import Budget, Guard, plain_path
from timens_rootfs.layout import Image
from timens_rootfs.tarstream import Source, TarError, members

STEP = "unpack"
# All that the archives of docker save, podman save and OCI layouts hold.
IMAGE_PART = re.compile(
    r"oci-layout|(index|manifest)\.json|repositories|blobs(/.*)?|[0-9a-f]{64}([./].*)?"
)


def unpack(archive: Path, target: Path, options: image.Options, *, name: str | None) -> str:
    """Make `target` from an archive; returns the kind that it was.

    `name` chooses among the images of an archive that holds several.
    """
    if not archive.exists():
        raise RootfsError(STEP, archive, "no such file")
    stage.target_is_free(target, step=STEP)
    if archive.is_dir():
        if not (archive / "oci-layout").is_file():
            raise RootfsError(STEP, archive, "is a folder, and no OCI layout")
        _unpack_image("oci", archive, target, options, name)
        return "oci"
    if not archive.is_file():
        raise RootfsError(STEP, archive, "is not a file", "what is read twice cannot be a pipe")
    try:
        kind = _kind(archive, options)
    except OSError as error:
        raise RootfsError(STEP, archive, os_cause(error)) from error
    if kind == "tar":
        with stage.staged_root(target, step=STEP) as root:
            guard = Guard(archive, step=STEP, budget=Budget(options.max_size))
            with (
                progress.shown(f"unpacking {archive}", growing=root),
                plain_bytes(archive, step=STEP) as stream,
            ):
                plain.unpack(stream, root, guard)
    else:
        _unpack_image(kind, archive, target, options, name)
    return kind


def _kind(archive: Path, options: image.Options) -> str:
    """docker-archive, oci-archive, or tar for a root filesystem.

    The first member that no image archive has settles it, which is nearly always the first one
    of all; an image archive is judged to its end on the way.
    """
    names = set()
    guard = Guard(archive, step=STEP, budget=Budget(options.max_size))
    try:
        with plain_bytes(archive, step=STEP) as stream:
            source = Source(stream)
            for member in members(source):
                parts = plain_path(member.name)[0]
                inside = "/".join(parts)
                if parts and not IMAGE_PART.fullmatch(inside):
                    return "tar"
                if parts:
                    guard.judge(member)
                names.add(inside)
                source.skip(member.size)
            source.drain()
    except TarError as error:
        raise RootfsError(STEP, archive, f"not a tar archive: {error}") from error
    if "manifest.json" in names:
        return "docker-archive"
    return "oci-archive" if "oci-layout" in names else "tar"


def _unpack_image(
    kind: str, archive: Path, target: Path, options: image.Options, name: str | None
) -> Image:
    with stage.work_folder(target.parent, step=STEP) as work:
        # Under a name of ours: a transport takes what follows a colon for the image's name.
        inside = work / "archive"
        if archive.is_dir() or compression(archive) is None:
            inside.symlink_to(archive.resolve())
        else:
            with plain_bytes(archive, step=STEP) as stream, inside.open("xb") as out:
                while data := stream.read(CHUNK):
                    out.write(data)
        text = f"{kind}:{inside}" + (f":{name}" if name else "")
        return image.pull_uncached(text, target, options, step=STEP, thing=archive)
