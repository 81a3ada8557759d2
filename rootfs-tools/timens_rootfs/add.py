# SPDX-License-Identifier: LGPL-2.1-or-later
"""Put files of the host into a root filesystem, with all they need to run there."""

import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from timens_rootfs import elf, inroot, stage
from timens_rootfs.closure import STEP, Closure, Copy, refuse_older_libc
from timens_rootfs.errors import RootfsError, os_cause

PROGRAMS, FOLDERS = PurePosixPath("/usr/bin"), PurePosixPath("/opt")


@dataclass(frozen=True)
class Added:
    """What one `add` did, as paths inside the root."""

    named: tuple[PurePosixPath, ...]
    needed: tuple[PurePosixPath, ...]


def add(root: Path, files: Sequence[Path], *, to: str | None) -> Added:
    """Add programs, scripts, data files and folders; either all of it or nothing."""
    inroot.need_root(root, step=STEP)
    closure = Closure(root)
    links: dict[PurePosixPath, str] = {}
    named = []
    try:
        for source in files:
            destination = _destination(root, source, to, several=len(files) > 1)
            named.append(destination)
            if source.is_dir():
                _add_folder(closure, links, source, destination)
            else:
                closure.add(source.resolve(), destination)
        copies = list(closure.copies.values())
        refuse_older_libc(root, copies)
        _write(root, copies, links)
    except OSError as error:
        raise RootfsError(STEP, error.filename or root, os_cause(error)) from error
    needed = [copy.to for copy in copies if not copy.asked_for]
    lie = (inroot.resolve(root, path).relative_to(root) for path in named)
    return Added(tuple(PurePosixPath("/", path) for path in lie), tuple(needed))


def _destination(root: Path, source: Path, to: str | None, *, several: bool) -> PurePosixPath:
    if not source.exists():
        found = shutil.which(source.name) if source.name == str(source) else None
        raise RootfsError(STEP, source, "no such file", f"did you mean {found}" if found else None)
    if not (source.is_dir() or source.is_file()):
        raise RootfsError(STEP, source, "is neither a file nor a folder")
    if to is not None:
        path = PurePosixPath("/", to)
        inside = inroot.resolve(root, path)
        into = several or to.endswith("/") or (inside.is_dir() and not source.is_dir())
        return path / source.name if into else path
    if source.is_dir():
        return FOLDERS / source.resolve().name
    if not os.access(source, os.X_OK):
        raise RootfsError(STEP, source, "is not a program", "say where it goes: --to PATH")
    return PROGRAMS / source.name


def _add_folder(
    closure: Closure, links: dict[PurePosixPath, str], source: Path, to: PurePosixPath
) -> None:
    for folder, subfolders, names in os.walk(source):
        inside = to / Path(folder).relative_to(source)
        for name in [*subfolders, *names]:
            path = Path(folder, name)
            if path.is_symlink():
                links[inside / name] = inroot.link_target(path)
            elif path.is_file():
                closure.add(path, inside / name)
            elif not path.is_dir():
                raise RootfsError(STEP, path, "is neither a file, a folder nor a link")


def _write(root: Path, copies: Sequence[Copy], links: dict[PurePosixPath, str]) -> None:
    """Copy everything into a stage first: a full disk or an unreadable file changes nothing."""
    same_disk = root.parent.stat().st_dev == root.stat().st_dev
    with stage.work_folder(root.parent if same_disk else root, step=STEP) as holder:
        staged = []
        for number, copy in enumerate(copies):
            new = holder / f"new{number}"
            shutil.copyfile(copy.source, new)
            mode = stat.S_IMODE(copy.source.stat().st_mode) & 0o777
            new.chmod(mode | (0o555 if elf.is_elf(copy.source) else 0o444))
            staged.append((new, copy.to))
        for number, (to, target) in enumerate(links.items()):
            new = holder / f"link{number}"
            new.symlink_to(target)
            staged.append((new, to))
        _swap_in(root, holder, staged)


def _swap_in(root: Path, holder: Path, staged: Sequence[tuple[Path, PurePosixPath]]) -> None:
    """Rename every staged file to its place; undo all of it if one of them cannot be."""
    undo: list[tuple[Path, Path | None]] = []
    folders: list[Path] = []
    try:
        for number, (new, to) in enumerate(staged):
            place = inroot.resolve(root, to, follow_last=False)
            if place.is_dir() and not place.is_symlink():
                raise RootfsError(STEP, to, "is a folder in the root", "say --to PATH")
            _make_folders(place.parent, folders)
            old = holder / f"old{number}" if place.is_symlink() or place.exists() else None
            if old is not None:
                place.rename(old)
            undo.append((place, old))
            new.rename(place)
    except (OSError, RootfsError):
        for place, old in reversed(undo):
            place.unlink(missing_ok=True)
            if old is not None:
                old.rename(place)
        for folder in reversed(folders):
            folder.rmdir()
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    if not folder.is_dir():
        _make_folders(folder.parent, made)
        folder.mkdir(mode=0o755)
        made.append(folder)
