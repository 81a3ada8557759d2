# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a file needs beside itself to run: interpreter and libraries, found as ld.so finds them.

Source: ld.so(8), execve(2) "Interpreter scripts"; for musl, its dynlink.c reads
/etc/ld-musl-ARCH.path.  What a program opens by itself (dlopen, NSS) cannot be seen from here.
"""

import functools
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from timens_rootfs import elf, inroot, tools
from timens_rootfs.errors import RootfsError

STEP = "add"
TRIPLETS = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "i386": "i386-linux-gnu",
    "arm": "arm-linux-gnueabihf",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
}
SYSTEM_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
MUSL_ITSELF = re.compile(r"lib(c|pthread|rt|m|dl|util|xnet)\.")
GLIBC_VERSION = re.compile(rb"GLIBC_(\d+)\.(\d+)\b")


@dataclass(frozen=True)
class Copy:
    """One file of the host and the path that it gets inside the root."""

    source: Path
    to: PurePosixPath
    asked_for: bool  # named by the user: replaces what is there; a library never does


class Closure:
    """Collects every file that the named ones need, without writing anything."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.copies: dict[PurePosixPath, Copy] = {}

    def add(
        self,
        source: Path,
        to: PurePosixPath,
        *,
        asked_for: bool = True,
        loader: str | None = None,
    ) -> None:
        """Take a file, and what it needs, into the collection.

        A library names no loader itself: it is the one of the program that needs it.
        """
        if to in self.copies:
            return
        self.copies[to] = Copy(source, to, asked_for)
        with source.open("rb") as file:
            start = file.read(256)
        if start.startswith(elf.MAGIC):
            self._add_libraries(source, to, loader)
        elif start.startswith(b"#!"):
            for program in self._script_needs(source, start):
                self._add_program(program)

    def _add_program(self, program: Path) -> None:
        to = PurePosixPath(program)
        if not inroot.is_file(self.root, to):
            self.add(program.resolve(), to, asked_for=False)

    def _script_needs(self, script: Path, start: bytes) -> Iterator[Path]:
        words = start[2:].split(b"\n", 1)[0].decode(errors="replace").split()
        if not words or not words[0].startswith("/"):
            raise RootfsError(STEP, script, "names no interpreter after #!")
        wanted = [words[0]]
        if PurePosixPath(words[0]).name == "env":
            named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
            wanted += named[:1]
        for name in wanted:
            if not name.startswith("/"):
                if any(inroot.is_file(self.root, f"{folder}/{name}") for folder in BIN_FOLDERS):
                    continue
                yield tools.find(name, step=STEP)
            elif inroot.is_file(self.root, name):
                continue
            elif Path(name).is_file():
                yield Path(name)
            else:
                cause = f"its interpreter {name} is neither in the root nor on this host"
                raise RootfsError(STEP, script, cause)

    def _add_libraries(self, source: Path, to: PurePosixPath, loader: str | None) -> None:
        facts = elf.read(source)
        if facts.interpreter is not None and not inroot.is_file(self.root, facts.interpreter):
            self.add(
                _on_host(Path(facts.interpreter), source),
                PurePosixPath(facts.interpreter),
                asked_for=False,
            )
        loader = facts.interpreter or loader
        for name in facts.needed:
            if not is_loader_itself(name, loader) and not self._root_has(name, facts):
                self._add_library(name, facts, source, to, loader)

    def _add_library(
        self, name: str, facts: elf.Elf, source: Path, to: PurePosixPath, loader: str | None
    ) -> None:
        if "/" in name:
            path = _on_host(Path(name), source)
            self.add(path, PurePosixPath(name), asked_for=False, loader=loader)
            return
        for entry in facts.search:
            found = Path(_with_origin(entry, source.parent), name)
            if found.is_file():
                folder = PurePosixPath(_with_origin(entry, to.parent))
                place = _plain(folder / name)
                self.add(found.resolve(), place, asked_for=False, loader=loader)
                return
        host_path = _host_library(name, facts, loader)
        if host_path is None:
            cause = f"needs {name}, which this host does not have"
            raise RootfsError(STEP, source, cause, "install the package that brings it")
        place = self._library_home(facts, host_path)
        self.add(host_path.resolve(), place, asked_for=False, loader=loader)

    def _root_has(self, name: str, facts: elf.Elf) -> bool:
        if any(copy.to.name == name and not copy.asked_for for copy in self.copies.values()):
            return True
        return any(
            _same_machine(inroot.resolve(self.root, f"{folder}/{name}"), facts)
            for folder in system_folders(facts)
        )

    def _library_home(self, facts: elf.Elf, host_path: Path) -> PurePosixPath:
        """Beside the libc that the root has; else as on the host, where ld.so looks unasked."""
        for folder in system_folders(facts):
            if _same_machine(inroot.resolve(self.root, f"{folder}/libc.so.6"), facts):
                return PurePosixPath(folder, host_path.name)
        if str(host_path.parent) in system_folders(facts):
            return PurePosixPath(host_path)
        return PurePosixPath("/usr/lib", host_path.name)


BIN_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")


def refuse_older_libc(root: Path, copies: list[Copy]) -> None:
    """A file that wants a newer glibc than the root's own would fail to start there."""
    libc = next(
        (
            found
            for folder in (*(f"/lib/{t}" for t in TRIPLETS.values()), *SYSTEM_FOLDERS)
            if (found := inroot.resolve(root, f"{folder}/libc.so.6")).is_file()
        ),
        None,
    )
    if libc is None:
        return
    here = _newest_glibc(libc)
    for copy in copies:
        if copy.to.name != "libc.so.6" and elf.is_elf(copy.source):
            wanted = _newest_glibc(copy.source)
            if wanted > here:
                cause = f"needs glibc {wanted[0]}.{wanted[1]}, the root has {here[0]}.{here[1]}"
                hint = "link it statically, or create the root from a newer suite"
                raise RootfsError(STEP, copy.source, cause, hint)


def _newest_glibc(path: Path) -> tuple[int, int]:
    found = GLIBC_VERSION.findall(path.read_bytes())
    return max(((int(major), int(minor)) for major, minor in found), default=(0, 0))


def system_folders(facts: elf.Elf) -> list[str]:
    """Where ld.so looks unasked, Debian's multiarch folders first."""
    triplet = TRIPLETS.get(facts.machine)
    multiarch = [f"/lib/{triplet}", f"/usr/lib/{triplet}"] if triplet else []
    return [*multiarch, *SYSTEM_FOLDERS]


def _same_machine(path: Path, facts: elf.Elf) -> bool:
    if not path.is_file() or not elf.is_elf(path):
        return False
    other = elf.read(path)
    return (other.machine, other.bits) == (facts.machine, facts.bits)


def is_loader_itself(name: str, loader: str | None) -> bool:
    """musl is loader and library in one: load_library() in its ldso/dynlink.c."""
    return loader is not None and "ld-musl" in loader and bool(MUSL_ITSELF.match(name))


def _host_library(name: str, facts: elf.Elf, loader: str | None) -> Path | None:
    if loader is not None and "ld-musl" in loader:
        candidates = [Path(folder, name) for folder in _musl_folders(loader)]
    else:
        candidates = [Path(path) for path in _ld_cache().get(name, ())]
        candidates += [Path(folder, name) for folder in system_folders(facts)]
    return next((path for path in candidates if _same_machine(path, facts)), None)


def _musl_folders(interpreter: str) -> list[str]:
    name = Path(interpreter).name.removesuffix(".so.1")
    listing = Path("/etc", f"{name}.path")
    if listing.is_file():
        return re.split(r"[\n:]", listing.read_text().strip())
    return ["/lib", "/usr/local/lib", "/usr/lib"]


@functools.cache
def _ld_cache() -> dict[str, tuple[str, ...]]:
    """Library name -> paths, from `ldconfig -p`."""
    try:
        ldconfig = tools.find("ldconfig", step=STEP)
    except RootfsError:
        return {}
    listing = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    found: dict[str, tuple[str, ...]] = {}
    for line in listing.splitlines():
        head, arrow, path = line.partition(" => ")
        if arrow:
            name = head.split()[0]
            found[name] = (*found.get(name, ()), path.strip())
    return found


def _on_host(path: Path, needed_by: Path) -> Path:
    if not path.is_file():
        raise RootfsError(STEP, needed_by, f"needs {path}, which this host does not have")
    return path.resolve()


def _with_origin(entry: str, folder: Path | PurePosixPath) -> str:
    return entry.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(folder)) or "."


def _plain(path: PurePosixPath) -> PurePosixPath:
    """Without the `..` that $ORIGIN/../lib brings; never above /."""
    done: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            del done[-1:]
        else:
            done.append(part)
    return PurePosixPath("/", *done)
