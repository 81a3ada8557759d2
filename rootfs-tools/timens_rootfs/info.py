# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a root filesystem is, for people and for programs."""

import os
import shlex
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from timens_rootfs import check, imageconfig, inroot, inside, shelf
from timens_rootfs.imageconfig import ImageConfig
from timens_rootfs.progress import human


@dataclass(frozen=True)
class Info:
    """All that `info` tells; the keys of its --json."""

    path: str
    source: str | None
    made: str | None
    image_digest: str | None
    system: str | None
    architecture: str | None
    libc: str | None
    package_manager: str | None
    files: int
    bytes: int
    config: ImageConfig | None


def of_tree(root: Path) -> Info:
    """Look at one root filesystem."""
    inroot.need_root(root, step="info")
    record = shelf.find(root)
    facts = check.program_elf(root)
    manager = inside.manager_of(root)
    files, size = _count(root)
    return Info(
        path=str(root.resolve()),
        source=record.source if record else None,
        made=record.made if record else None,
        image_digest=record.image_digest if record else None,
        system=_system(root),
        architecture=facts.machine if facts else None,
        libc=_libc(facts.interpreter if facts else None),
        package_manager=manager.program if manager else None,
        files=files,
        bytes=size,
        config=imageconfig.read(root),
    )


def as_json(info: Info) -> dict[str, Any]:
    """Plain data."""
    return asdict(info)


def as_text(info: Info) -> str:
    """One fact a line; what is not known has no line."""
    lines = {
        "path": info.path,
        "source": info.source,
        "image digest": info.image_digest,
        "made": info.made,
        "system": info.system,
        "architecture": info.architecture,
        "libc": info.libc,
        "packages": info.package_manager,
        "files": f"{info.files}, {human(info.bytes)}",
    }
    if info.config is not None:
        lines |= {
            "command": shlex.join(info.config.argv) or None,
            "environment": shlex.join(info.config.env) or None,
            "directory": info.config.working_dir or None,
            "user": info.config.user or None,
        }
    return "".join(f"{key:<13} {value}\n" for key, value in lines.items() if value)


def _count(root: Path) -> tuple[int, int]:
    files = size = 0
    seen: set[int] = set()
    for folder, _, names in os.walk(root):
        for name in names:
            facts = os.lstat(Path(folder, name))
            files += 1
            if stat.S_ISREG(facts.st_mode) and facts.st_ino not in seen:
                size += facts.st_size
                if facts.st_nlink > 1:
                    seen.add(facts.st_ino)
    return files, size


def _system(root: Path) -> str | None:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        place = inroot.resolve(root, path)
        if place.is_file():
            for line in place.read_text(errors="replace").splitlines():
                if line.startswith("PRETTY_NAME="):
                    return line.removeprefix("PRETTY_NAME=").strip("\"'")
    return None


def _libc(interpreter: str | None) -> str | None:
    if interpreter is None:
        return None
    return "musl" if "musl" in interpreter else "glibc"
