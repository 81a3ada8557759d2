# SPDX-License-Identifier: LGPL-2.1-or-later
"""Can this root filesystem run here?  Every finding comes with what to do about it."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from timens_rootfs import elf, imageconfig, inroot, userns
from timens_rootfs.closure import is_loader_itself, system_folders

SHELLS = ("/bin/sh", "/usr/bin/sh", "/bin/bash", "/bin/busybox")
MOUNT_POINTS = ("/proc", "/dev", "/sys")
# A machine runs these foreign programs by itself.
ALSO_RUNS = {"x86_64": {"i386"}, "aarch64": {"arm"}}
BINFMT = Path("/proc/sys/fs/binfmt_misc")
DEFAULT_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@dataclass(frozen=True)
class Finding:
    """One answer: level is ok, warning or error."""

    level: str
    subject: str
    text: str
    hint: str | None = None


def check(root: Path) -> list[Finding]:
    """All findings about a root, in a fixed order."""
    inroot.need_root(root, step="check")
    found: list[Finding] = []
    for subject, look in CHECKS:
        answers = list(look(root))
        found += answers or [Finding("ok", subject, "nothing to complain about")]
    return found


def _place(root: Path) -> Iterator[Finding]:
    if not os.access(root, os.R_OK | os.X_OK):
        yield Finding("error", "place", f"{root} cannot be read", f"chmod a+rx {root}")
    elif not root.stat().st_mode & stat.S_IXOTH:
        text = "only its owner may enter the root, other users inside may not"
        yield Finding("warning", "place", text, f"chmod 755 {root}")
    if os.statvfs(root).f_flag & os.ST_NOEXEC:
        text = "the file system is mounted noexec: nothing in it can be started"
        yield Finding("error", "place", text, "move the root to another disk")


def main_program(root: Path) -> str | None:
    """The program that the image starts, or else its shell."""
    config = imageconfig.read(root)
    if config is not None and config.argv:
        return _on_path(root, config.argv[0], config) or config.argv[0]
    return next((shell for shell in SHELLS if inroot.is_file(root, shell)), None)


def _on_path(root: Path, name: str, config: imageconfig.ImageConfig) -> str | None:
    if "/" in name:
        return name if name.startswith("/") else f"{config.working_dir or '/'}/{name}"
    path = next((e.removeprefix("PATH=") for e in config.env if e.startswith("PATH=")), None)
    folders = path.split(":") if path is not None else DEFAULT_PATH
    return next((f"{f}/{name}" for f in folders if inroot.is_file(root, f"{f}/{name}")), None)


def _command(root: Path) -> Iterator[Finding]:
    program = main_program(root)
    if program is None:
        hint = "add a static program, and name it when you run the root: timens-rootfs add"
        yield Finding("warning", "command", "no shell, and no image config names a command", hint)
        return
    place = inroot.resolve(root, program)
    if not place.is_file():
        yield Finding("error", "command", f"{program} is not in the root", "timens-rootfs add")
    elif not place.stat().st_mode & 0o111:
        yield Finding("error", "command", f"{program} is not executable", f"chmod +x {place}")


def program_elf(root: Path) -> elf.Elf | None:
    """The main program as the kernel sees it; for a script, its interpreter."""
    program = main_program(root)
    for _ in range(4):  # the kernel follows interpreters of interpreters this far
        if program is None:
            return None
        place = inroot.resolve(root, program)
        if not place.is_file():
            return None
        with place.open("rb") as file:
            start = file.read(256)
        if start.startswith(elf.MAGIC):
            return elf.read(place)
        words = start[2:].split(b"\n", 1)[0].split() if start.startswith(b"#!") else []
        program = words[0].decode(errors="replace") if words else None
    return None


def _architecture(root: Path) -> Iterator[Finding]:
    facts = program_elf(root)
    if facts is None:
        return
    here = os.uname().machine
    here = elf.UNAME.get(here, here)
    if facts.machine == here:
        yield Finding("ok", "architecture", f"{facts.machine}, as this host")
    elif facts.machine in ALSO_RUNS.get(here, ()):
        yield Finding("ok", "architecture", f"{facts.machine}, which {here} runs as well")
    elif (BINFMT / f"qemu-{facts.machine}").exists():
        text = f"{facts.machine}, emulated by qemu: times measured in it mean nothing"
        yield Finding("warning", "architecture", text)
    else:
        hint = "pull it for this machine: --arch, or another image"
        yield Finding("error", "architecture", f"{facts.machine}, this host is {here}", hint)


def _interpreter(root: Path) -> Iterator[Finding]:
    facts = program_elf(root)
    if facts is None or facts.interpreter is None:
        return
    if not inroot.is_file(root, facts.interpreter):
        text = f"{facts.interpreter} is not in the root: programs end with 'not found'"
        hint = "add a program with its libraries: timens-rootfs add"
        yield Finding("error", "interpreter", text, hint)
        return
    folders = [*facts.search, *system_folders(facts)]
    if _has_loader_config(root):
        return
    for name in facts.needed:
        if is_loader_itself(name, facts.interpreter):
            continue
        if not any(inroot.is_file(root, f"{folder}/{name}") for folder in folders):
            text = f"library {name} is not in the root"
            yield Finding("error", "interpreter", text, "timens-rootfs add")


def _has_loader_config(root: Path) -> bool:
    """Then the loader knows more folders than this program does."""
    return inroot.is_file(root, "/etc/ld.so.cache")


def _mount_points(root: Path) -> Iterator[Finding]:
    for name in MOUNT_POINTS:
        bare = root / name.lstrip("/")
        if bare.is_symlink():
            yield Finding("error", "mount points", f"{name} is a link", f"mkdir it in {root}")
        elif not bare.exists():
            yield Finding("error", "mount points", f"{name} is missing", f"mkdir {bare}")
        elif not bare.is_dir():
            yield Finding("error", "mount points", f"{name} is not a folder", f"mkdir {bare}")


def _users(root: Path) -> Iterator[Finding]:
    passwd = inroot.resolve(root, "/etc/passwd")
    names: dict[str, int] = {}
    if passwd.is_file():
        for line in passwd.read_text(errors="replace").splitlines():
            fields = line.split(":")
            if len(fields) >= 3 and fields[2].isdigit():
                names[fields[0]] = int(fields[2])
    else:
        yield Finding("warning", "users", "no /etc/passwd: users are numbers only")
    config = imageconfig.read(root)
    user = config.user.partition(":")[0] if config is not None else ""
    if user and not user.isdigit() and user not in names:
        text = f"the image runs as {user!r}, whom /etc/passwd does not know"
        yield Finding("error", "users", text, "timens-run --user NUMBER")
    if not userns.owners_kept() and any(uid != 0 for uid in names.values()):
        text = "this user has no subordinate ids: all files belong to root inside"
        hint = "give this user ranges in /etc/subuid and /etc/subgid, then make the root again"
        yield Finding("warning", "users", text, hint)


def _devices(root: Path) -> Iterator[Finding]:
    for folder, _, names in os.walk(root):
        for name in names:
            mode = os.lstat(Path(folder, name)).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                path = Path(folder, name)
                text = f"/{path.relative_to(root)} is a device node of the host"
                yield Finding("warning", "devices", text, f"rm {path}")
                return


CHECKS: tuple[tuple[str, Callable[[Path], Iterator[Finding]]], ...] = (
    ("place", _place),
    ("command", _command),
    ("architecture", _architecture),
    ("interpreter", _interpreter),
    ("mount points", _mount_points),
    ("users", _users),
    ("devices", _devices),
)
