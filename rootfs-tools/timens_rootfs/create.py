# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make a root filesystem from nothing: Debian by mmdebstrap, or one static busybox."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from timens_rootfs import elf, mounts, progress, stage, tools, userns
from timens_rootfs.errors import RootfsError

STEP = "create"
FOLDERS = ("dev", "etc", "home", "lib", "mnt", "opt", "proc", "run", "srv", "sys", "usr/lib", "var")
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\n"
    "daemon:x:1:1:daemon:/:/bin/false\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "group": "root:x:0:\ndaemon:x:1:\ntty:x:5:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1\tlocalhost\n::1\tlocalhost\n",
    "os-release": 'ID=busybox\nNAME="busybox"\nPRETTY_NAME="busybox, made by timens-rootfs"\n',
}
# What the host's apt was told about reaching archives holds for the new root's apt too.
APT_SETTINGS = (
    "Acquire::Check-Date",
    "Acquire::Check-Valid-Until",
    "Acquire::Retries",
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
)


def create_busybox(target: Path) -> None:
    """A root of one static busybox and a link for each of its commands; needs no network."""
    busybox = tools.find("busybox", step=STEP)
    if elf.read(busybox).interpreter is not None:
        hint = "apt-get install busybox-static"
        raise RootfsError(STEP, busybox, "is linked dynamically", hint)
    commands = tools.run(["busybox", "--list-full"], step=STEP, thing=busybox).split()
    with stage.staged_root(target, step=STEP) as root:
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True)
        (root / "root").mkdir(mode=0o700)
        for folder in ("tmp", "var/tmp"):
            (root / folder).mkdir()
            (root / folder).chmod(0o1777)
        (root / "bin").mkdir()
        shutil.copyfile(busybox, root / "bin/busybox")
        (root / "bin/busybox").chmod(0o755)
        for command in commands:
            link = root / command
            if not link.is_symlink() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to("/bin/busybox")
        for name, text in ETC.items():
            (root / "etc" / name).write_text(text)


def create_debian(
    target: Path, *, suite: str, mirror: str | None, include: Sequence[str], variant: str
) -> None:
    """A Debian root by mmdebstrap, from the mirror that the host's own apt uses."""
    if not userns.owners_kept():
        hint = "give this user ranges in /etc/subuid and /etc/subgid, or use --from busybox"
        raise RootfsError(STEP, "debian", "needs root, or a user with subordinate ids", hint)
    program = "mmdebstrap"
    tools.find(program, step=STEP)
    with stage.staged_root(target, step=STEP) as root:
        apart = mounts.own_namespaces()
        argv: list[str | Path] = [*apart.argv, program, "--mode=root", f"--variant={variant}"]
        argv.append("--format=directory")
        argv += [f"--aptopt={setting}" for setting in host_apt_settings()]
        if include:
            argv.append(f"--include={','.join(include)}")
        argv += [suite, root]
        argv += [mirror] if mirror is not None else host_sources(suite)
        with progress.shown(f"mmdebstrap makes {suite}", growing=root):
            thing = f"{suite} from {mirror or 'the mirror of this host'}"
            tools.run(argv, step=STEP, thing=thing, name=program, stop=apart.stop)
        # Each container gets a /dev of its own; no root filesystem of ours holds a device.
        for entry in (root / "dev").iterdir():
            if entry.is_dir() and not entry.is_symlink():
                stage.remove_tree(entry)
            else:
                entry.unlink()


def host_apt_settings() -> list[str]:
    """Settings of the host's apt that say how archives are reached and trusted."""
    return [
        line
        for line in ask_apt(["apt-config", "dump"])
        if line.partition(" ")[0] in APT_SETTINGS and line.partition(" ")[2] not in ('"";', "")
    ]


def host_sources(suite: str) -> list[str]:
    """Lines of sources.list for `suite`, from the mirrors where the host gets its Debian.

    None at all on a host that is no Debian: mmdebstrap then takes its own default.
    """
    targets = ask_apt(["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(LABEL)\t$(REPO_URI)"])
    mirrors: dict[str, str] = {}
    for target in targets:
        origin, label, uri = [*target.split("\t"), "", ""][:3]
        if origin == "Debian" and uri:
            mirrors.setdefault(label, uri)
    if "Debian" not in mirrors:
        return []
    lines = [f"deb {mirrors['Debian']} {suite} main"]
    if suite not in ("sid", "unstable", "experimental"):
        lines.append(f"deb {mirrors['Debian']} {suite}-updates main")
        if "Debian-Security" in mirrors:
            lines.append(f"deb {mirrors['Debian-Security']} {suite}-security main")
    return lines


def ask_apt(argv: list[str]) -> list[str]:
    """Lines that apt prints; none where there is no apt."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
