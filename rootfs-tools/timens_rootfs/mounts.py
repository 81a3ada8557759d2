# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mounts below a folder: what is mounted there is somebody else's and must not be removed."""

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from timens_rootfs import tools
from timens_rootfs.errors import RootfsError

ESCAPE = re.compile(rb"\\([0-7]{3})")


def below(folder: Path) -> list[str]:
    """Mount points of this namespace at or below a folder.  Source: proc(5), mountinfo."""
    top = folder.resolve()
    lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    points = [os.fsdecode(ESCAPE.sub(_byte, line.split()[4])) for line in lines]
    return [point for point in points if Path(point).is_relative_to(top)]


def _byte(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 8)])


def undo_below(folder: Path) -> list[str]:
    """Unmount what lies at or below a folder; returns what is still mounted there.

    All of it is made private first: to unmount a part of a shared /sys undoes it for the host.
    """
    points = below(folder)
    if all(_done("mount", "--make-private", point) for point in points):
        for point in reversed(points):
            _done("umount", "--lazy", point)
    return below(folder)


def _done(program: str, *args: str) -> bool:
    try:
        argv: list[str | Path] = [tools.find(program, step="unmount"), *args]
    except RootfsError:
        return False
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Apart:
    """What to put before a program that mounts and forks, and the signal that ends all of it."""

    argv: tuple[str, ...] = ()
    stop: signal.Signals = signal.SIGTERM  # the program has mounts to undo


def own_namespaces() -> Apart:
    """Where a program's mounts vanish with it, and all that it forked dies with it.

    As much of that as is permitted: in a container without CAP_SYS_ADMIN, nothing.
    """
    mounts = ("unshare", "--mount", "--propagation", "private")
    processes = (*mounts, "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--")
    for apart in (Apart(processes, signal.SIGKILL), Apart((*mounts, "--"))):
        if _done(*apart.argv, "true"):
            return apart
    return Apart()
