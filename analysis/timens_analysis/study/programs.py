# SPDX-License-Identifier: LGPL-2.1-or-later
"""The other programs of the project, and the root filesystem that a study measures in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from timens_analysis.errors import UserError
from timens_analysis.study.arms import BENCH_INSIDE
from timens_analysis.study.proof import sha256


def find(name: str) -> Path:
    """Beside timens-study, in the package's own folder, or else on PATH."""
    here = Path(sys.argv[0]).absolute().parent
    for folder in (here, here.parent / "lib" / "timens-run"):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise UserError(
            "programs", name, "not found", hint="make build, then put build/bin on your PATH"
        )
    return Path(found).resolve()


def _rootfs_tool(*words: str | Path) -> None:
    command = [find("timens-rootfs"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        cause = next(line for line in reversed(lines) if not line.startswith("hint: "))
        raise UserError("rootfs", str(words[1]), cause, hint=hints[-1] if hints else None)


def default_source() -> str:
    """debian, or busybox for a user who has one id: the owners of Debian's files need a range.

    Asked of `timens-run --check`, which tries it; the arms run timens-bench alone in either.
    """
    asked: list[str | Path] = [find("timens-run"), "--check", "--json"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    try:
        checks = json.loads(answer.stdout)["checks"]
    except (ValueError, KeyError) as problem:
        cause = answer.stderr.strip() or str(problem)
        raise UserError("rootfs", "timens-run --check --json", cause) from problem
    ranges = all(check["ok"] for check in checks if check["check"] == "ranges of ids")
    return "debian" if ranges else "busybox"


def default_rootfs(source: str) -> Path:
    """Where the root filesystem is kept between studies: the build tree, else the user's cache."""
    build = Path(sys.argv[0]).absolute().parent.parent
    if (build / "build.ninja").is_file() and os.access(build, os.W_OK):
        return build / f"rootfs-{source}"
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(cache) / "timens-run" / f"rootfs-{source}"


def must_be_rootfs(rootfs: Path) -> None:
    """Refuses a folder that the user named and that is none: a slip must not make one there."""
    if not (rootfs / "usr").is_dir():
        raise UserError(
            "rootfs",
            str(rootfs),
            "no root filesystem: no usr in it" if rootfs.exists() else "no such folder",
            hint=f"leave out --rootfs, or make it: timens-rootfs create {rootfs}",
        )


def prepare_rootfs(rootfs: Path, source: str, say: Callable[[str], None]) -> None:
    """Makes the root filesystem unless it is there, and puts today's timens-bench into it."""
    if not (rootfs / "usr").is_dir():
        say(f"making a root filesystem in {rootfs} ({source}; kept for the next study)")
        rootfs.parent.mkdir(parents=True, exist_ok=True)
        _rootfs_tool("create", rootfs, "--from", source)
    bench = find("timens-bench")
    inside = rootfs / BENCH_INSIDE.lstrip("/")
    if not inside.is_file() or sha256(inside) != sha256(bench):
        say(f"putting {bench.name} into {rootfs}")
        _rootfs_tool("add", rootfs, bench)
    if sha256(inside) != sha256(bench):
        raise UserError("rootfs", str(inside), f"is not the same file as {bench}")


def prepare_bundle(bundle: Path, rootfs: Path) -> None:
    """config.json for an OCI runtime: the namespaces that engines make by default, nothing else."""
    spaces = ("pid", "mount", "ipc", "uts", "network", "cgroup")
    config = {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": [BENCH_INSIDE, "zygote"],
            "env": ["PATH=/usr/bin:/bin"],
            "cwd": "/",
        },
        "root": {"path": str(rootfs), "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        ],
        "linux": {"namespaces": [{"type": name} for name in spaces]},
    }
    try:
        bundle.mkdir(exist_ok=True)
        (bundle / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    except OSError as problem:
        raise UserError("bundle", str(bundle), problem.strerror or str(problem)) from problem


def rootfs_digest(rootfs: Path) -> str | None:
    """Names the packages of a Debian root: the sha256 of dpkg's own list; None without dpkg."""
    status = rootfs / "var/lib/dpkg/status"
    return sha256(status) if status.is_file() else None
