# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the layers of an image to a tree.

The first layer, which is most of nearly every image, has nothing to hide: it is a plain tar and
unpacked like one, in half the time, since nothing has to be read twice.  The others are umoci's
work: what they hide below them, and ways through links of lower layers.
"""

import hashlib
import os
import stat
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from timens_rootfs import layout, plain, progress, stage, tools, userns
from timens_rootfs.compressed import Stream, plain_bytes
from timens_rootfs.errors import RootfsError
from timens_rootfs.guard import Budget, Guard
from timens_rootfs.layout import Image

QUEUE = 16


@dataclass(frozen=True)
class Work:
    """What is unpacked where: an image of the layout `where`, and how errors call it."""

    where: Path
    image: Image
    root: Path
    max_size: int | None
    step: str
    thing: object


def unpack(work: Work, flat: Path | None = None) -> str | None:
    """Unpack all layers into an empty folder.

    With `flat`, the tree is written there as well, as one plain tar; returns its check sum.
    """
    only = len(work.image.layers) == 1
    budget = Budget(work.max_size)
    with progress.shown(f"unpacking {work.thing}", growing=work.root):
        try:
            check_sum = _unpack_first(work, budget, flat if only else None)
            done = 1
        except RootfsError:
            # Not a plain tar after all, or hostile: umoci and the rules for layers decide.
            stage.remove_tree(work.root)
            work.root.mkdir(mode=0o755)
            if flat is not None:
                flat.unlink(missing_ok=True)
            budget, check_sum, done = Budget(work.max_size), None, 0
        if done < len(work.image.layers):
            _unpack_by_umoci(work, budget, skip=done)
        if flat is not None and check_sum is None:
            check_sum = _pack_flat(work.root, flat)
        return check_sum


def _unpack_first(work: Work, budget: Budget, flat: Path | None) -> str | None:
    """The lowest layer, which has nothing to hide, in one pass."""
    if not work.image.layers:
        return None
    wanted = layout.diff_ids(work.where, work.image)[0]
    guard = Guard(work.thing, step=work.step, budget=budget, whiteouts=False)
    first = layout.blob(work.where, work.image.layers[0])
    with ThreadPoolExecutor(1) as pool, plain_bytes(first, step=work.step) as stream:
        content = _Sum("sha256", pool)
        source = _Summed(stream, content)
        if flat is None:
            plain.unpack(source, work.root, guard, digested=True)
            sum_of_flat = None
        else:
            kept = _Sum("blake2b", pool)
            with flat.open("xb") as out:
                plain.unpack(source, work.root, guard, _Copy(out, kept), digested=True)
            sum_of_flat = kept.hexdigest()
        if f"sha256:{content.hexdigest()}" != wanted:
            cause = "the first layer does not have the digest of its image"
            raise RootfsError(work.step, work.thing, cause)
    return sum_of_flat


def _unpack_by_umoci(work: Work, budget: Budget, *, skip: int) -> None:
    """umoci unpacks the other layers while this process judges every member of them."""
    image = layout.for_umoci(work.where, work.image, skip=skip, step=work.step)
    source = f"{work.where}:{layout.TAG}"
    argv: list[str | Path] = ["umoci", "raw", "unpack", "--image", source]
    argv += [] if userns.owners_kept() else ["--rootless"]
    with tools.running([*argv, work.root], step=work.step, thing=work.thing) as umoci:
        for digest in image.layers:
            guard = Guard(work.thing, step=work.step, budget=budget, layer=True)
            blob = layout.blob(work.where, digest)
            thing = f"{work.thing}: layer {digest}"
            with plain_bytes(blob, step=work.step, thing=thing) as stream:
                plain.judge_only(stream, guard, digested=True)
        umoci.finish()
    _refuse_devices(work.root, step=work.step, thing=work.thing)


def _refuse_devices(root: Path, *, step: str, thing: object) -> None:
    """The judgement again, on what really lies on the disk now."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise RootfsError(step, thing, f"hostile archive: {path} is a device node")


def unpack_flat(
    flat: Path, check_sum: str, root: Path, max_size: int | None, *, step: str, thing: object
) -> bool:
    """Unpack a tar that unpack() wrote; False when it is not what it was."""
    if max_size is not None and flat.stat().st_size > max_size:
        raise RootfsError(step, thing, f"unpacks to more than --max-size ({max_size} bytes)")
    argv = plain.tar_argv(str(flat), root)
    with (
        progress.shown(f"unpacking {thing}", growing=root),
        tools.running(argv, step=step, thing=thing) as tar,
    ):
        # Both read the file at once; what comes of it is used only if the sum is right.
        if _sum_of(flat) != check_sum:
            return False
        tar.finish()
    return True


def _pack_flat(root: Path, flat: Path) -> str | None:
    argv: list[str | Path] = ["tar", "-c", "-f", flat, "-C", root, "--numeric-owner"]
    argv += ["--xattrs", "--xattrs-include=*", "--format=posix", "."]
    try:
        tools.run(argv, step="cache", thing=flat)
        return _sum_of(flat)
    except RootfsError:
        # Without room for it the next pull takes longer; this one is complete.
        return None


def _sum_of(path: Path) -> str:
    """Of a file of our own: BLAKE2 takes a third of the time of SHA-256 here."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


class _Sum:
    """A check sum that grows in a thread, beside the work that feeds it."""

    def __init__(self, kind: str, pool: ThreadPoolExecutor) -> None:
        self._hash = hashlib.new(kind)
        self._pool = pool
        self._queue: list[Future[None]] = []

    def add(self, data: bytes) -> None:
        """One more piece; waits when the thread is far behind."""
        self._queue.append(self._pool.submit(self._hash.update, data))
        if len(self._queue) > QUEUE:
            self._queue.pop(0).result()

    def hexdigest(self) -> str:
        """Of all pieces."""
        for future in self._queue:
            future.result()
        return self._hash.hexdigest()


class _Summed:
    """A stream whose bytes are summed up as they pass."""

    def __init__(self, stream: Stream, check: _Sum) -> None:
        self._stream = stream
        self._check = check

    def read(self, size: int, /) -> bytes:
        """As the stream beneath."""
        data = self._stream.read(size)
        self._check.add(data)
        return data


class _Copy:
    """A file whose bytes are summed up as they are written."""

    def __init__(self, file: IO[bytes], check: _Sum) -> None:
        self._file = file
        self._check = check

    def write(self, data: bytes, /) -> None:
        """As the file beneath."""
        self._file.write(data)
        self._check.add(data)
