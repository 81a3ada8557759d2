# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every write is made in a folder beside its target and then renamed: all or nothing."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timens_rootfs.errors import RootfsError, os_cause

PREFIX = ".timens-rootfs-"


def target_is_free(target: Path, *, step: str) -> None:
    """A root filesystem is only made where nothing, or an empty folder, is."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise RootfsError(step, target, "is there and is not a folder")
    try:
        if target.is_dir() and any(target.iterdir()):
            hint = f"choose another folder, or remove it: timens-rootfs rm {target}"
            raise RootfsError(step, target, "is not empty", hint)
    except OSError as error:
        raise RootfsError(step, target, os_cause(error)) from error


@contextlib.contextmanager
def staged_root(target: Path, *, step: str) -> Iterator[Path]:
    """A new folder that becomes `target` when the block ends, and vanishes when it fails."""
    target_is_free(target, step=step)
    try:
        holder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=target.parent))
    except OSError as error:
        raise RootfsError(step, target.parent, os_cause(error)) from error
    try:
        # The holder stays 0700 until the rename: nobody else reaches a half-made root.
        root = holder / "root"
        root.mkdir(mode=0o755)
        yield root
        try:
            root.rename(target)
        except OSError as error:
            raise RootfsError(step, target, os_cause(error)) from error
    except OSError as error:
        thing = error.filename if error.filename is not None else target
        raise RootfsError(step, thing, os_cause(error)) from error
    finally:
        remove_tree(holder)


def remove_tree(path: Path) -> None:
    """Remove a tree even where its folders forbid it to their owner."""

    def permit_and_retry(function: object, name: str, _error: object) -> None:
        for folder in (Path(name).parent, Path(name)):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(stat.S_IRWXU)
        if function is os.unlink:
            Path(name).unlink()
        else:
            shutil.rmtree(name)

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=permit_and_retry)
