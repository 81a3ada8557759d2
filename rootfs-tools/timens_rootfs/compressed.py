# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read a file front to back as the plain bytes that it holds: gzip, zstd, xz or none.

zlib and lzma do the work, and zstd(1), as Python 3.11 has no zstd.  A stream that was cut off
is an error here, never a shorter file.
"""

import contextlib
import lzma
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from timens_rootfs import tools
from timens_rootfs.errors import RootfsError

MAGICS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
CHUNK = 1 << 20
GZIP_WBITS = 31  # zlib.h: 16 for the gzip header, 15 for the largest window


class Stream(Protocol):
    """Anything that gives bytes in order."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        ...


class Truncated(Exception):
    """The stream ends before its end mark."""


def compression(path: Path) -> str | None:
    """gzip, zstd, xz, or None for anything else."""
    with path.open("rb") as file:
        start = file.read(6)
    return next((name for magic, name in MAGICS.items() if start.startswith(magic)), None)


class _Gzip:
    """Members of a gzip file one after another (RFC 1952, 2.2)."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._engine = zlib.decompressobj(GZIP_WBITS)
        self._input = b""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, however much the input would grow to."""
        while True:
            if self._engine.eof:
                self._input = self._engine.unused_data or self._file.read(CHUNK)
                if not self._input.lstrip(b"\0"):  # some writers pad with zeros
                    return b""
                self._engine = zlib.decompressobj(GZIP_WBITS)
            elif not self._input:
                self._input = self._file.read(CHUNK)
                if not self._input:
                    raise Truncated
            data = self._engine.decompress(self._input, size)
            self._input = self._engine.unconsumed_tail
            if data:
                return data


class _Xz:
    """Streams of an xz file one after another."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._engine = lzma.LZMADecompressor()

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, however much the input would grow to."""
        while True:
            more = b""
            if self._engine.eof:
                more = self._engine.unused_data or self._file.read(CHUNK)
                if not more.lstrip(b"\0"):
                    return b""
                self._engine = lzma.LZMADecompressor()
            elif self._engine.needs_input:
                more = self._file.read(CHUNK)
                if not more:
                    raise Truncated
            data = self._engine.decompress(more, size)
            if data:
                return data


@contextlib.contextmanager
def plain_bytes(path: Path, *, step: str, thing: object = None) -> Iterator[Stream]:
    """The decompressed content of a file; damage is an error that names `thing`, or the file."""
    thing = thing or path
    kind = compression(path)
    try:
        if kind == "zstd":
            with _zstd(path, step=step) as stream:
                yield stream
            return
        with path.open("rb") as file:
            yield _Gzip(file) if kind == "gzip" else _Xz(file) if kind == "xz" else file
    except Truncated as error:
        raise RootfsError(step, thing, f"the {kind or 'tar'} stream is truncated") from error
    except (zlib.error, lzma.LZMAError) as error:
        raise RootfsError(step, thing, f"the {kind} stream is damaged: {error}") from error


class _Zstd:
    """What zstd(1) writes; its exit status tells at the end whether that was all."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process = process
        self._said = said

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes."""
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if not data and self._process.wait() != 0:
            self._said.seek(0)
            words = self._said.read().decode(errors="replace")
            if "premature" in words or "truncated" in words.lower():
                raise Truncated
            raise zlib.error(words.strip())
        return data


@contextlib.contextmanager
def _zstd(path: Path, *, step: str) -> Iterator[Stream]:
    program = tools.find("zstd", step=step)
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [program, "-dcq", "--", path], stdout=subprocess.PIPE, stderr=said
        ) as process,
    ):
        try:
            yield _Zstd(process, said)
        finally:
            process.kill()
