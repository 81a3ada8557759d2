# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a program or library asks of the dynamic loader.

Source: elf(5); System V ABI, "Program Loading and Dynamic Linking".
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from timens_rootfs.errors import RootfsError, os_cause

MAGIC = b"\x7fELF"
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29
MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 22: "s390x"}
MACHINES |= {21: "ppc64le", 8: "mips", 258: "loongarch64"}
# As `uname -m` says it -> as MACHINES says it.
UNAME = {"i686": "i386", "i586": "i386", "armv7l": "arm", "armv8l": "arm", "ppc64": "ppc64le"}


@dataclass(frozen=True)
class Elf:
    """The loader's view of one file."""

    machine: str
    bits: int
    interpreter: str | None
    needed: tuple[str, ...]
    search: tuple[str, ...]  # DT_RUNPATH, or DT_RPATH where there is none; may hold $ORIGIN


def is_elf(path: Path) -> bool:
    """Whether the file starts as an ELF file does."""
    with path.open("rb") as file:
        return file.read(4) == MAGIC


def read(path: Path) -> Elf:
    """Read one ELF file.

    Raises
    ------
    RootfsError : it cannot be read, or is damaged
    """
    try:
        return _parse(path.read_bytes())
    except OSError as error:
        raise RootfsError("elf", path, os_cause(error)) from error
    except (struct.error, ValueError, IndexError, KeyError) as error:
        raise RootfsError("elf", path, "is not a complete ELF file") from error


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def _parse(data: bytes) -> Elf:
    if data[:4] != MAGIC:
        raise ValueError("magic")
    bits = {1: 32, 2: 64}[data[4]]
    order = {1: "<", 2: ">"}[data[5]]
    segments = _segments(data, bits, order)
    machine = struct.unpack_from(f"{order}H", data, 18)[0]
    interpreter = None
    needed: list[int] = []
    paths: dict[int, int] = {}
    strings = 0
    for segment in segments:
        if segment.kind == PT_INTERP:
            interpreter = _text(data, segment.offset)
        if segment.kind == PT_DYNAMIC:
            for tag, value in _dynamic(data, segment, bits, order):
                if tag == DT_NEEDED:
                    needed.append(value)
                elif tag == DT_STRTAB:
                    strings = _file_offset(segments, value)
                elif tag in (DT_RPATH, DT_RUNPATH):
                    paths[tag] = value
    search = paths.get(DT_RUNPATH, paths.get(DT_RPATH))
    return Elf(
        machine=MACHINES.get(machine, f"machine {machine}"),
        bits=bits,
        interpreter=interpreter,
        needed=tuple(_text(data, strings + name) for name in needed),
        search=tuple(_text(data, strings + search).split(":")) if search is not None else (),
    )


def _segments(data: bytes, bits: int, order: str) -> list[_Segment]:
    if bits == 64:
        table, size, count = (*struct.unpack_from(f"{order}Q", data, 32), *_counts(data, order, 54))
        form, pick = f"{order}IIQQQQQQ", (0, 2, 3, 5)
    else:
        table, size, count = (*struct.unpack_from(f"{order}I", data, 28), *_counts(data, order, 42))
        form, pick = f"{order}IIIIIIII", (0, 1, 2, 4)
    found = []
    for index in range(count):
        fields = struct.unpack_from(form, data, table + index * size)
        found.append(_Segment(*(fields[i] for i in pick)))
    return found


def _counts(data: bytes, order: str, at: int) -> tuple[int, int]:
    size, count = struct.unpack_from(f"{order}HH", data, at)
    return size, count


def _dynamic(data: bytes, segment: _Segment, bits: int, order: str) -> list[tuple[int, int]]:
    form = f"{order}qQ" if bits == 64 else f"{order}iI"
    size = struct.calcsize(form)
    entries = []
    for at in range(segment.offset, segment.offset + segment.size, size):
        tag, value = struct.unpack_from(form, data, at)
        if tag == DT_NULL:
            break
        entries.append((tag, value))
    return entries


def _file_offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        if segment.kind == PT_LOAD and segment.address <= address < segment.address + segment.size:
            return address - segment.address + segment.offset
    raise ValueError("string table outside every segment")


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "surrogateescape")
