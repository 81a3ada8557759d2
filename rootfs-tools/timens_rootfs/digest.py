# SPDX-License-Identifier: LGPL-2.1-or-later
"""A digest of all that a root filesystem is: the same for the same content, wherever it lies.

For each path in byte order: type, mode, owner, extended attributes, and content, link target or
the earlier name of the same file.  Left out: times (two pulls of one image, or two builds of
one suite, would never agree), sizes of folders, inode numbers and SELinux labels (the host's).
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from timens_rootfs import inroot, userns
from timens_rootfs.errors import RootfsError, os_cause

STEP = "digest"
SMALL_BYTES = 1 << 16
THREADS = 2


def of_tree(root: Path) -> str:
    """sha256:HEX of everything below `root`."""
    inroot.need_root(root, step=STEP)
    whole = hashlib.sha256()
    first_names: dict[tuple[int, int], bytes] = {}
    pending: list[tuple[bytes, Future[bytes] | bytes]] = []
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            for name, path, facts in _walk(os.fsencode(root)):
                head = _head(name, path, facts)
                tail: Future[bytes] | bytes = b""
                if stat.S_ISLNK(facts.st_mode):
                    tail = os.readlink(path)  # noqa: PTH115 - in bytes
                elif stat.S_ISREG(facts.st_mode):
                    inode = (facts.st_dev, facts.st_ino)
                    if facts.st_nlink > 1 and inode in first_names:
                        tail = b"same as " + first_names[inode]
                    else:
                        first_names[inode] = name
                        small = facts.st_size < SMALL_BYTES
                        tail = _content(path) if small else pool.submit(_content, path)
                elif stat.S_ISCHR(facts.st_mode) or stat.S_ISBLK(facts.st_mode):
                    tail = b"%d:%d" % (os.major(facts.st_rdev), os.minor(facts.st_rdev))
                pending.append((head, tail))
            for head, tail in pending:
                data = tail.result() if isinstance(tail, Future) else tail
                # Lengths first: no two trees write the same bytes here.
                whole.update(b"%d:%s%d:%s" % (len(head), head, len(data), data))
    except OSError as error:
        raise RootfsError(STEP, os.fsdecode(error.filename or root), os_cause(error)) from error
    return f"sha256:{whole.hexdigest()}"


def _walk(root: bytes) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Every entry below the root, and the root itself as an empty name, in byte order."""
    todo = [(b"", root)]
    while todo:
        name, path = todo.pop()
        facts = os.lstat(path)
        yield name, path, facts
        if stat.S_ISDIR(facts.st_mode):
            children = sorted(os.listdir(path), reverse=True)  # noqa: PTH208 - in bytes
            todo += [(name + b"/" + child, path + b"/" + child) for child in children]


def _head(name: bytes, path: bytes, facts: os.stat_result) -> bytes:
    is_link = stat.S_ISLNK(facts.st_mode)
    mode = stat.S_IFMT(facts.st_mode) if is_link else facts.st_mode
    line = b"%s\0%o %d %d" % (name, mode, *owner(facts))
    for key in sorted(os.listxattr(path, follow_symlinks=False)):
        if key != "security.selinux":
            value = os.getxattr(path, key, follow_symlinks=False)
            line += b"\0%s=%d:%s" % (os.fsencode(key), len(value), value)
    return line


def owner(facts: os.stat_result) -> tuple[int, int]:
    """User and group as the container sees them."""
    if userns.owners_kept():
        return facts.st_uid, facts.st_gid
    # The user alone is mapped, to root.
    return (
        0 if facts.st_uid == os.geteuid() else facts.st_uid,
        0 if facts.st_gid == os.getegid() else facts.st_gid,
    )


def _content(path: bytes) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - a path in bytes is no Path
        return hashlib.file_digest(file, "sha256").digest()
