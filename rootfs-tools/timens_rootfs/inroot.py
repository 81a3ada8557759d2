# SPDX-License-Identifier: LGPL-2.1-or-later
"""Paths inside a root filesystem: they are hostile input and must never lead out of it."""

import errno
import os
from pathlib import Path, PurePosixPath

from timens_rootfs.errors import RootfsError

MAX_LINKS = 40  # as the kernel: path_resolution(7)


def link_target(link: Path) -> str:
    """The text of a link as it stands; Path.readlink() would tidy it up."""
    return os.readlink(link)  # noqa: PTH115


def resolve(root: Path, path: str | PurePosixPath, *, follow_last: bool = True) -> Path:
    """Where `path` lies on the host when `root` is taken as /, following links inside the root.

    Parts that do not exist are kept as they are; `..` never climbs above the root.
    """
    todo = [part for part in PurePosixPath(path).parts if part != "/"]
    done: list[str] = []
    links = 0
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            del done[-1:]
            continue
        here = root.joinpath(*done, part)
        if here.is_symlink() and (todo or follow_last):
            links += 1
            if links > MAX_LINKS:
                raise RootfsError("path in root", path, os.strerror(errno.ELOOP))
            target = PurePosixPath(link_target(here))
            if target.is_absolute():
                done = []
            todo = [step for step in target.parts if step != "/"] + todo
            continue
        done.append(part)
    return root.joinpath(*done)


def is_file(root: Path, path: str | PurePosixPath) -> bool:
    """Whether the root holds a file under this path, seen from inside."""
    return resolve(root, path).is_file()


def need_root(root: Path, *, step: str) -> None:
    """Refuse what is no root filesystem, and above all the host's own."""
    if not root.is_dir():
        cause = "is not a folder" if root.exists() else "no such folder"
        raise RootfsError(step, root, cause, "make one: timens-rootfs create DIR")
    if root.resolve() == Path("/"):
        raise RootfsError(step, root, "is the root of this host", "name a root filesystem")
