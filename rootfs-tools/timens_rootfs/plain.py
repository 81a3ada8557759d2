# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plain tars of a whole root (docker export, mmdebstrap, tar): judged and unpacked in one pass.

Each member is read, judged by guard.py and written again in one plain form to tar(1), which so
never sees a byte that was not judged.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from timens_rootfs import tools, userns
from timens_rootfs.compressed import CHUNK, Stream
from timens_rootfs.errors import RootfsError
from timens_rootfs.guard import Guard
from timens_rootfs.tarstream import Member, Source, TarError, header_bytes, members, padded

END = bytes(1024)


class Sink(Protocol):
    """Anything that takes bytes in order."""

    def write(self, data: bytes, /) -> object:
        """Take all of them."""
        ...


def tar_argv(archive: str, root: Path) -> list[str | Path]:
    """tar(1) as it is to unpack a root filesystem."""
    argv: list[str | Path] = ["tar", "-x", "-f", archive, "-C", root, "--numeric-owner"]
    argv += ["--same-permissions", "--delay-directory-restore", "--xattrs", "--xattrs-include=*"]
    return [*argv, "--same-owner" if userns.owners_kept() else "--no-same-owner"]


def unpack(stream: Stream, root: Path, guard: Guard, copy: Sink | None = None) -> None:
    """Unpack a stream of tar into an empty folder; `copy` gets what tar(1) gets."""
    argv = tar_argv("-", root)
    with tools.running(argv, step=guard.step, thing=guard.archive, stdin=subprocess.PIPE) as tar:
        pipe = tar.process.stdin
        assert pipe is not None
        try:
            _pass_on(stream, [pipe] if copy is None else [pipe, copy], guard)
        except BrokenPipeError as error:
            raise tar.failure() from error
        tar.finish()


def _pass_on(stream: Stream, sinks: Sequence[Sink], guard: Guard) -> None:
    def write(data: bytes) -> None:
        for sink in sinks:
            sink.write(data)

    source = Source(stream)
    try:
        for member in members(source):
            guard.judge(member)
            write(header_bytes(_tidied(member)))
            left = padded(member.size)
            while left > 0:
                part = source.some(min(left, CHUNK))
                write(part)
                left -= len(part)
        source.drain()
    except TarError as error:
        raise RootfsError(guard.step, guard.archive, f"not a tar archive: {error}") from error
    write(END)


def judge_only(stream: Stream, guard: Guard) -> None:
    """Read a whole archive and judge its members; writes nothing."""
    source = Source(stream)
    try:
        for member in members(source):
            guard.judge(member)
            source.skip(padded(member.size))
        source.drain()
    except TarError as error:
        raise RootfsError(guard.step, guard.archive, f"not a tar archive: {error}") from error


def _tidied(member: Member) -> Member:
    """Only attributes that a root filesystem needs and that can be set here."""
    allowed = (b"user.", b"security.capability") if userns.owners_kept() else (b"user.",)
    xattrs = {key: value for key, value in member.xattrs.items() if key.startswith(allowed)}
    return replace(member, xattrs=xattrs) if len(xattrs) != len(member.xattrs) else member
