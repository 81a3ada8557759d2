# SPDX-License-Identifier: LGPL-2.1-or-later
"""Change a root filesystem from inside, in a timens-run container: packages, or any command."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from timens_rootfs import inroot, progress, stage, tools, userns
from timens_rootfs.errors import RootfsError, os_cause

LAUNCHER = "timens-run"
RESOLVER = Path("/etc/resolv.conf")
PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._:=~/@-]*")


@dataclass(frozen=True)
class Manager:
    """How one package manager is told to install "$@" without questions."""

    program: str
    script: str


MANAGERS = (
    Manager(
        "apt-get",
        "apt-get -q update && apt-get -q install -y --no-install-recommends -- "
        '"$@" && apt-get clean && rm -rf /var/lib/apt/lists/*',
    ),
    Manager("apk", 'apk add --no-cache -- "$@"'),
    Manager("microdnf", 'microdnf install -y "$@" && microdnf clean all'),
    Manager("dnf", 'dnf install -y "$@" && dnf clean all'),
    Manager("zypper", 'zypper --non-interactive install -- "$@"'),
    Manager("pacman", 'pacman -Sy --noconfirm -- "$@"'),
)
FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
PREPARE = (
    "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "
    "DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root; "
)


def manager_of(root: Path) -> Manager | None:
    """The package manager that the root brings."""
    for manager in MANAGERS:
        if any(inroot.is_file(root, f"{folder}/{manager.program}") for folder in FOLDERS):
            return manager
    return None


def install(root: Path, packages: Sequence[str]) -> None:
    """Install packages with the root's own manager.

    It works on a copy, which takes the root's place when all went well: a failed installation
    changes nothing.
    """
    step = "install"
    inroot.need_root(root, step=step)
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise RootfsError(step, package, "is not the name of a package")
    manager = manager_of(root)
    if manager is None:
        known = ", ".join(each.program for each in MANAGERS)
        hint = f"one of {known} is needed; or copy programs in: timens-rootfs add"
        raise RootfsError(step, root, "has no package manager", hint)
    root = root.resolve()
    with stage.work_folder(root.parent, step=step) as work:
        copy = work / "root"
        with progress.shown(f"copying {root}", growing=copy):
            tools.run(["cp", "-a", "--reflink=auto", root, copy], step=step, thing=root)
        argv = [*launcher_argv(copy, network=True, step=step), "/bin/sh", "-c"]
        argv += [PREPARE + manager.script, manager.program, *packages]
        with progress.shown(f"{manager.program} installs {' '.join(packages)}"):
            tools.run(argv, step=step, thing=" ".join(packages), name=manager.program)
        old = work / "old"
        stage.rename_folder(root, old)
        try:
            stage.rename_folder(copy, root)
        except OSError:
            stage.rename_folder(old, root)
            raise


def launcher_argv(root: Path, *, network: bool, step: str) -> list[str | Path]:
    """timens-run for this root; with the network of the host where packages must come from."""
    argv: list[str | Path] = [launcher(step=step)]
    if network:
        argv += ["--share", "net"]
        if RESOLVER.is_file():
            argv += ["--ro-bind", f"{RESOLVER.resolve()}:{RESOLVER}"]
    return [*argv, root]


def launcher(*, step: str) -> Path:
    """timens-run: the one installed or built beside this program, else the one on PATH."""
    beside = Path(userns.program()).absolute().parent / LAUNCHER
    if os.access(beside, os.X_OK):
        return beside
    return tools.find(LAUNCHER, step=step)


def run(root: Path, command: Sequence[str], *, network: bool) -> NoReturn:
    """Become timens-run with this command, or with the image's own if there is none."""
    inroot.need_root(root, step="run")
    argv = [*launcher_argv(root, network=network, step="run"), *command]
    try:
        os.execv(argv[0], list(map(str, argv)))
    except OSError as error:
        raise RootfsError("run", argv[0], os_cause(error)) from error
