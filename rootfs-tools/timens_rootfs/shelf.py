# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was made here: one small record per root filesystem, for `list`, `info` and `rm`.

A root is a plain folder and works without its record; the record only says where it is from.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from timens_rootfs import inroot, mounts, stage
from timens_rootfs.errors import RootfsError, os_cause


@dataclass(frozen=True)
class Record:
    """Where one root filesystem came from."""

    path: str
    source: str
    made: str  # UTC, ISO 8601
    image_digest: str | None = None


def folder() -> Path:
    """$XDG_DATA_HOME/timens-rootfs"""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(base) / "timens-rootfs"


def note(root: Path, source: str, image_digest: str | None = None) -> None:
    """Remember a new root.  Where that cannot be written, the root is as good without it."""
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    record = Record(str(root.resolve()), source, made, image_digest)
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder(), delete=False) as file:
            json.dump(asdict(record), file)
        Path(file.name).rename(_path(root))


def find(root: Path) -> Record | None:
    """The record of a root, if there is one."""
    return _read(_path(root))


def records() -> list[Record]:
    """Every root that still exists, by path; forgets the others."""
    found = []
    for path in folder().glob("*.json"):
        record = _read(path)
        if record is not None and Path(record.path).is_dir():
            found.append(record)
        else:
            path.unlink(missing_ok=True)
    return sorted(found, key=lambda record: record.path)


def remove(root: Path, *, force: bool) -> None:
    """Remove a root filesystem, its config and its record."""
    step = "rm"
    inroot.need_root(root, step=step)
    if find(root) is None:
        if not force:
            hint = "if it is one and you mean it: --force"
            raise RootfsError(step, root, "was not made by timens-rootfs", hint)
        if _holds_current_folder(root):
            hint = "if you mean it, go elsewhere first: cd /"
            raise RootfsError(step, root, "is or holds the current folder", hint)
    mounted = mounts.below(root)
    if mounted:
        hint = f"stop what runs there, or: umount {mounted[0]}"
        raise RootfsError(step, root, f"{mounted[0]} is mounted inside it", hint)
    root = root.resolve()
    with stage.work_folder(root.parent, step=step) as grave:
        try:
            stage.rename_folder(root, grave / "root")
        except OSError as error:
            raise RootfsError(step, root, os_cause(error)) from error
        stage.config_path(root).unlink(missing_ok=True)
        _path(root).unlink(missing_ok=True)


def _holds_current_folder(root: Path) -> bool:
    try:
        return Path.cwd().is_relative_to(root.resolve())
    except FileNotFoundError:  # it was removed, so it is not in this root
        return False


def _path(root: Path) -> Path:
    return folder() / (hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32] + ".json")


def _read(path: Path) -> Record | None:
    try:
        return Record(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
