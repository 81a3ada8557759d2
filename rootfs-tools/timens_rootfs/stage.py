# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every write is made in a folder beside its target and then renamed: all or nothing.

A stage is held by flock(2), by its maker and the programs that it started: one whose maker was
killed is held by nobody once they ended, and the next one made beside it removes it.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timens_rootfs import mounts, tools
from timens_rootfs.errors import RootfsError, os_cause

PREFIX = ".timens-rootfs-"


def config_path(root: Path) -> Path:
    """Where the image config of a root is kept: beside it, under its name."""
    return root.parent / f"{root.name}.config.json"


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
def work_folder(parent: Path, *, step: str) -> Iterator[Path]:
    """A new folder of our own below `parent`, gone when the block ends however it ends."""
    try:
        _remove_orphans(parent)
        place, lock = _new_locked(parent)
    except OSError as error:
        raise RootfsError(step, parent, os_cause(error)) from error
    tools.kept_open.add(lock)
    try:
        yield place
    except OSError as error:
        thing = error.filename if error.filename is not None else parent
        hint = "free some space, or choose another disk" if error.errno == errno.ENOSPC else None
        raise RootfsError(step, thing, os_cause(error), hint) from error
    finally:
        tools.kept_open.discard(lock)
        _remove(place)
        os.close(lock)


def _new_locked(parent: Path) -> tuple[Path, int]:
    while True:
        place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Before the lock was ours, another run may have taken the folder for an orphan.
        if place.exists():
            return place, lock
        os.close(lock)


@contextlib.contextmanager
def staged_root(target: Path, *, step: str) -> Iterator[Path]:
    """A new folder that becomes `target` when the block ends, and vanishes when it fails.

    What the block leaves at config_path(root) becomes the target's config.
    """
    target_is_free(target, step=step)
    with work_folder(target.parent, step=step) as holder:
        # The holder stays 0700 until the rename: nobody else reaches a half-made root.
        root = holder / "root"
        root.mkdir(mode=0o755)
        yield root
        try:
            _publish(root, target)
        except OSError as error:  # somebody else was quicker, or the folder above is gone
            raise RootfsError(step, target, os_cause(error)) from error


def _publish(root: Path, target: Path) -> None:
    config = config_path(root)
    old_config = root.parent / "old.config.json"
    has_old = config_path(target).exists()
    if has_old:
        config_path(target).rename(old_config)
    try:
        if config.exists():
            config.rename(config_path(target))
        rename_folder(root, target)
    except OSError:
        config_path(target).unlink(missing_ok=True)
        if has_old:
            old_config.rename(config_path(target))
        raise


def _remove_orphans(parent: Path) -> None:
    """Remove the stages of runs that were killed."""
    for place in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or gone meanwhile
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(place)
            finally:
                os.close(lock)


def _remove(place: Path) -> None:
    """Remove a stage, but never what is mounted inside it."""
    mounted = mounts.undo_below(place)
    if mounted:
        text = f"warning: {place}: is left there: {mounted[0]} is mounted inside it"
        print(f"timens-rootfs: {text}\nhint: umount {mounted[0]}", file=sys.stderr)
        return
    remove_tree(place)


def rename_folder(folder: Path, target: Path) -> None:
    """As rename(2), which needs write permission for the folder itself, to change its ".."."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    wanted = mode | stat.S_IWUSR | stat.S_IXUSR
    if mode == wanted or os.geteuid() == 0:
        folder.rename(target)
        return
    folder.chmod(wanted)
    try:
        folder = folder.rename(target)
    finally:
        folder.chmod(mode)


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
