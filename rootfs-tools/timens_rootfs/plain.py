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
from timens_rootfs.compressed import Stream
from timens_rootfs.errors import RootfsError
from timens_rootfs.guard import Guard, plain_path
from timens_rootfs.tarstream import Member, Source, TarError, header_bytes, members

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


def unpack(
    stream: Stream, root: Path, guard: Guard, copy: Sink | None = None, *, digested: bool = False
) -> None:
    """Unpack a stream of tar into an empty folder; `copy` gets what tar(1) gets.

    `digested`: the caller compares the digest of the stream with the one that its maker gave.
    """
    argv = tar_argv("-", root)
    with tools.running(argv, step=guard.step, thing=guard.archive, stdin=subprocess.PIPE) as tar:
        pipe = tar.process.stdin
        assert pipe is not None
        sinks: list[Sink] = [pipe] if copy is None else [pipe, copy]
        try:
            _pass_on(Source(stream, digested=digested), sinks, guard)
        except BrokenPipeError as error:
            raise tar.failure() from error
        tar.finish()


def _pass_on(source: Source, sinks: Sequence[Sink], guard: Guard) -> None:
    def write(data: bytes) -> None:
        for sink in sinks:
            sink.write(data)

    try:
        for member in members(source):
            guard.judge(member)
            write(header_bytes(_tidied(member)))
            for part in source.content(member.size):
                write(part)
        source.drain()
    except TarError as error:
        raise RootfsError(guard.step, guard.archive, f"not a tar archive: {error}") from error
    write(END)


def judge_only(stream: Stream, guard: Guard, *, digested: bool = False) -> None:
    """Read a whole archive and judge its members; writes nothing."""
    source = Source(stream, digested=digested)
    try:
        for member in members(source):
            guard.judge(member)
            source.skip(member.size)
        source.drain()
    except TarError as error:
        raise RootfsError(guard.step, guard.archive, f"not a tar archive: {error}") from error


def _tidied(member: Member) -> Member:
    """Only attributes that a root filesystem needs and that can be set here; one name for "/"."""
    allowed = (b"user.", b"security.capability") if userns.owners_kept() else (b"user.",)
    xattrs = {key: value for key, value in member.xattrs.items() if key.startswith(allowed)}
    name = member.name if plain_path(member.name)[0] else "./"
    if name == member.name and len(xattrs) == len(member.xattrs):
        return member
    return replace(member, name=name, xattrs=xattrs)
