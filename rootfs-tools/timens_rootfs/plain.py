# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plain tars of a whole root (docker export, mmdebstrap, tar): judged and unpacked in one pass.

Each member is read, judged by guard.py and written again in one plain form to tar(1), which so
never sees a byte that was not judged.
"""

import subprocess
from dataclasses import replace
from pathlib import Path

from timens_rootfs import tools, userns
from timens_rootfs.compressed import CHUNK, Stream
from timens_rootfs.errors import RootfsError
from timens_rootfs.guard import Guard
from timens_rootfs.tarstream import Member, Source, TarError, header_bytes, members, padded

END = bytes(1024)


def unpack(stream: Stream, root: Path, guard: Guard) -> None:
    """Unpack a stream of tar into an empty folder."""
    tar = ["tar", "-x", "-f", "-", "-C", str(root), "--numeric-owner", "--same-permissions"]
    tar += ["--delay-directory-restore", "--xattrs", "--xattrs-include=*"]
    tar.append("--same-owner" if userns.owners_kept() else "--no-same-owner")
    with tools.running(tar, step=guard.step, thing=guard.archive, stdin=subprocess.PIPE) as process:
        try:
            _pass_on(stream, process, guard)
        except BrokenPipeError as error:
            raise process.failure() from error
        process.finish()


def _pass_on(stream: Stream, process: tools.Running, guard: Guard) -> None:
    out = process.process.stdin
    assert out is not None
    source = Source(stream)
    try:
        for member in members(source):
            guard.judge(member)
            out.write(header_bytes(_tidied(member)))
            left = padded(member.size)
            while left > 0:
                part = source.some(min(left, CHUNK))
                out.write(part)
                left -= len(part)
        source.drain()
    except TarError as error:
        raise RootfsError(guard.step, guard.archive, f"not a tar archive: {error}") from error
    out.write(END)


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
