# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read tar headers strictly, and write them again in one plain form.

Not tarfile: it takes a damaged header for the end of the archive, so that a cut-off archive
looks whole, and a program that reads on sees members that were never judged.
Source: pax(1) in POSIX.1-2017, "ustar Interchange Format" and "pax Extended Header";
tar(5) of libarchive for the GNU long names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from timens_rootfs.compressed import CHUNK, Stream, Truncated

BLOCK = 512
ZEROS = bytes(BLOCK)
MAX_META_BYTES = 1 << 20
KINDS = {
    b"0": "file",
    b"\0": "file",
    b"7": "file",
    b"1": "hard link",
    b"2": "link",
    b"3": "device",
    b"4": "device",
    b"5": "folder",
    b"6": "fifo",
    b"S": "sparse",
}
FLAGS = {"file": b"0", "hard link": b"1", "link": b"2", "folder": b"5", "fifo": b"6"}
USTAR_NAME, USTAR_ID, USTAR_SIZE = 100, 0o7777777, 0o77777777777
XATTR = b"SCHILY.xattr."


class TarError(Exception):
    """The bytes are no whole tar archive."""


@dataclass(frozen=True)
class Member:
    """One entry of an archive; `size` is the length of the content that follows."""

    name: str
    kind: str
    target: str = ""
    size: int = 0
    mode: int = 0o755
    uid: int = 0
    gid: int = 0
    mtime: bytes = b"0"
    xattrs: dict[bytes, bytes] = field(default_factory=dict)


class Source:
    """Counted reads from a stream, and never a silent short one.

    `digested`: whoever made the archive gave its digest too, so that nothing can be cut off on
    the way.  It may then end where a member ends, without its block of zeros, and be empty:
    `umoci insert` and builders of empty layers write that.
    """

    def __init__(self, stream: Stream, *, digested: bool = False) -> None:
        self._stream = stream
        self.digested = digested
        self._buffer = b""
        self._at = 0

    def exactly(self, size: int) -> bytes:
        """`size` bytes; Truncated when fewer are left."""
        parts = []
        while size > 0:
            part = self.some(size)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def some(self, size: int) -> bytes:
        """At least one byte and at most `size`; Truncated at the end."""
        if self._at_end():
            raise Truncated
        part = self._buffer[self._at : self._at + size]
        self._at += len(part)
        return part

    def _at_end(self) -> bool:
        if self._at == len(self._buffer):
            self._buffer = self._stream.read(CHUNK)
            self._at = 0
        return not self._buffer

    def header(self) -> bytes:
        """The next block; one of zeros at the end of the archive."""
        return ZEROS if self.digested and self._at_end() else self.exactly(BLOCK)

    def content(self, size: int) -> Iterator[bytes]:
        """`size` bytes in pieces, and what fills them up to whole blocks."""
        left = size
        while left > 0:
            part = self.some(min(left, CHUNK))
            left -= len(part)
            yield part
        filling = padded(size) - size
        while filling > 0 and not (self.digested and self._at_end()):
            filling -= len(self.some(filling))
        yield bytes(padded(size) - size)

    def skip(self, size: int) -> None:
        """Pass over the content of a member."""
        for _ in self.content(size):
            pass

    def drain(self) -> None:
        """Read to the end, so that a compressed stream checks its own check sums."""
        while self._stream.read(CHUNK):
            pass


def members(source: Source) -> Iterator[Member]:
    """Every member; its content(size) must be read or skipped before the next.

    Raises
    ------
    Truncated : the archive ends before its block of zeros
    TarError  : a header is damaged
    """
    globals_: dict[bytes, bytes] = {}
    pax: dict[bytes, bytes] = {}
    long_name = long_target = None
    first = True
    while True:
        header = source.header()
        if header == ZEROS:
            if first and not source.digested:
                raise TarError("holds no member")
            return
        _check_sum(header)
        first = False
        flag = header[156:157]
        if flag in (b"x", b"g", b"L", b"K"):
            content = _meta(source, header)
            if flag == b"x":
                pax = _pax_records(content)
            elif flag == b"g":
                globals_ |= _pax_records(content)
            elif flag == b"L":
                long_name = content.rstrip(b"\0")
            else:
                long_target = content.rstrip(b"\0")
            continue
        yield _member(header, globals_ | pax, long_name, long_target)
        pax, long_name, long_target = {}, None, None


def padded(size: int) -> int:
    """Content is filled up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def header_bytes(member: Member) -> bytes:
    """The member as a ustar header, behind a pax header where ustar is too small."""
    name, target = _encode(member.name), _encode(member.target)
    records = {XATTR + key: value for key, value in member.xattrs.items()}
    if len(name) > USTAR_NAME:
        records[b"path"] = name
    if len(target) > USTAR_NAME:
        records[b"linkpath"] = target
    if b"." in member.mtime or member.mtime.startswith(b"-"):
        records[b"mtime"] = member.mtime
    for key, value, limit in (
        (b"uid", member.uid, USTAR_ID),
        (b"gid", member.gid, USTAR_ID),
        (b"size", member.size, USTAR_SIZE),
    ):
        if value > limit:
            records[key] = str(value).encode()
    plain = _ustar(member, name[:USTAR_NAME], target[:USTAR_NAME], FLAGS[member.kind])
    if not records:
        return plain
    body = b"".join(_pax_record(key, value) for key, value in records.items())
    extra = Member(name="", kind="file", size=len(body))
    return _ustar(extra, b"pax", b"", b"x") + body + bytes(padded(len(body)) - len(body)) + plain


def _check_sum(header: bytes) -> None:
    wanted = _number(header[148:156])
    if wanted != sum(header) - sum(header[148:156]) + 8 * ord(" "):
        raise TarError("a member's header is damaged (check sum)")


def _number(field_bytes: bytes) -> int:
    if field_bytes[0] in (0x80, 0xFF):  # GNU: base 256, two's complement
        value = int.from_bytes(field_bytes[1:], "big", signed=field_bytes[0] == 0xFF)
    else:
        digits = field_bytes.split(b"\0", 1)[0].strip()
        try:
            value = int(digits, 8) if digits else 0
        except ValueError as error:
            raise TarError("a member's header is damaged (number)") from error
    return value


def _size(value: int) -> int:
    if value < 0 or value >= 1 << 62:
        raise TarError("a member's header is damaged (size)")
    return value


def _meta(source: Source, header: bytes) -> bytes:
    size = _size(_number(header[124:136]))
    if size > MAX_META_BYTES:
        raise TarError("a member's extended header is too long")
    content = source.exactly(padded(size))
    return content[:size]


def _pax_records(content: bytes) -> dict[bytes, bytes]:
    records = {}
    at = 0
    while at < len(content):
        digits, space, _ = content[at : at + 20].partition(b" ")
        if not space or not digits.isdigit():
            raise TarError("a member's extended header is damaged")
        record = content[at : at + int(digits)]
        key, equals, value = record[len(digits) + 1 :].partition(b"=")
        if len(record) != int(digits) or not equals or not value.endswith(b"\n"):
            raise TarError("a member's extended header is damaged")
        records[key] = value[:-1]
        at += int(digits)
    return records


def _member(
    header: bytes, pax: dict[bytes, bytes], long_name: bytes | None, long_target: bytes | None
) -> Member:
    name = header[:100].split(b"\0", 1)[0]
    prefix = header[345:500].split(b"\0", 1)[0]
    if prefix and header[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    name = pax.get(b"path", long_name if long_name is not None else name)
    target = header[157:257].split(b"\0", 1)[0]
    target = pax.get(b"linkpath", long_target if long_target is not None else target)
    kind = KINDS.get(header[156:157], f"type {header[156:157]!r}")
    if any(key.startswith(b"GNU.sparse.") for key in pax):
        kind = "sparse"
    if kind == "file" and name.endswith(b"/"):  # as tars older than POSIX wrote folders
        kind = "folder"
    has_content = kind not in ("hard link", "link", "device", "folder", "fifo")
    return Member(
        name=_decode(name),
        kind=kind,
        target=_decode(target),
        size=_size(_pax_number(pax, b"size", header[124:136])) if has_content else 0,
        mode=_number(header[100:108]) & 0o7777,
        uid=_pax_number(pax, b"uid", header[108:116]),
        gid=_pax_number(pax, b"gid", header[116:124]),
        mtime=pax.get(b"mtime", str(_number(header[136:148])).encode()),
        xattrs={
            key.removeprefix(XATTR): value for key, value in pax.items() if key.startswith(XATTR)
        },
    )


def _pax_number(pax: dict[bytes, bytes], key: bytes, field_bytes: bytes) -> int:
    if key not in pax:
        return _number(field_bytes)
    try:
        return int(pax[key])
    except ValueError as error:
        raise TarError("a member's extended header is damaged") from error


def _ustar(member: Member, name: bytes, target: bytes, flag: bytes) -> bytes:
    whole_mtime = member.mtime.partition(b".")[0]
    mtime = int(whole_mtime) if whole_mtime.isdigit() else 0
    header = b"".join(
        [
            name.ljust(100, b"\0"),
            b"%07o\0" % member.mode,
            b"%07o\0" % (member.uid if member.uid <= USTAR_ID else 0),
            b"%07o\0" % (member.gid if member.gid <= USTAR_ID else 0),
            b"%011o\0" % (member.size if member.size <= USTAR_SIZE else 0),
            b"%011o\0" % min(mtime, USTAR_SIZE),
            b" " * 8,
            flag,
            target.ljust(100, b"\0"),
            b"ustar\x0000",
        ]
    ).ljust(BLOCK, b"\0")
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def _pax_record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    length = len(body) + 1
    while len(str(length)) + len(body) != length:
        length = len(str(length)) + len(body)
    return str(length).encode() + body


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
