# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where this process is in the hierarchy that accounts for memory, and where its root is.

Below the root the kernel charges every timer and file to a group; in the root it does not.
Source: cgroups(7).
"""

from __future__ import annotations

from pathlib import Path

from timens_analysis.study.host import read

ROOT = "/"


def place() -> str:
    """The path of our group, "/" in the root: of the v1 memory hierarchy, else of v2."""
    unified = ROOT
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return path
        if controllers == "":
            unified = path
    return unified


def root_procs() -> Path | None:
    """The file that takes a process into the root; None where no hierarchy is mounted."""
    unified = None
    for line in (read("/proc/self/mounts") or "").splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(where) / "cgroup.procs"
        if kind == "cgroup2":
            unified = Path(where) / "cgroup.procs"
    return unified
