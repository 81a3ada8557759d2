# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prove that the arms are equal but for what they are meant to differ in.

Each confounder here is worth more than the effect that is looked for: another memory cgroup 11 to
26 % of a timer_create or timerfd_create, a seccomp filter 26 ns on every call, another build of
the same source 1.9 ns (docs/methods.md).  All is read from the host's /proc, for the process that
measures, while it waits inside its arm.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.study.arms import ALL_NAMESPACES, SLOT_VARIABLE, Arm

PROC = Path("/proc")
POLICIES = {
    os.SCHED_OTHER: "SCHED_OTHER",
    os.SCHED_FIFO: "SCHED_FIFO",
    os.SCHED_RR: "SCHED_RR",
    os.SCHED_BATCH: "SCHED_BATCH",
    os.SCHED_IDLE: "SCHED_IDLE",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One arm from outside: the fields of `arms` in environment.schema.json."""

    namespaces: Mapping[str, str]
    timens_offsets: str
    cgroup: str
    scheduler: str
    cpus: list[int]
    seccomp_mode: int
    binary_sha256: str

    def as_json(self) -> dict[str, Any]:
        """As the header has it."""
        return asdict(self)


def sha256(path: Path) -> str:
    """Of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Identity of a file (device, inode, size, both times of change) -> its digest.
_KNOWN_SHA256: dict[tuple[int, ...], str] = {}


def _binary_sha256(pid: int) -> str:
    """Of what a process runs; a file is read once, however often its arm is entered."""
    about = (PROC / str(pid) / "exe").stat()
    identity = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    if identity not in _KNOWN_SHA256:
        _KNOWN_SHA256[identity] = sha256(PROC / str(pid) / "exe")
    return _KNOWN_SHA256[identity]


def _parents() -> dict[int, int]:
    parents = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # it ended while we looked
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def _is_zygote(pid: int) -> bool:
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    # A launcher has these two words at the end of its own command line.
    return len(words) == 3 and words[0].endswith(b"timens-bench") and words[1] == b"zygote"


def _has_slot(pid: int, slot: str) -> bool:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{SLOT_VARIABLE}={slot}".encode() in environment.split(b"\0")


def _children(pid: int) -> list[int]:
    """Of all threads; none where the kernel does not list them (CONFIG_PROC_CHILDREN)."""
    try:
        lists = [file.read_text() for file in (PROC / str(pid) / "task").glob("*/children")]
    except OSError:
        return []
    return [int(word) for text in lists for word in text.split()]


def _below(started: int, children: Callable[[int], list[int]]) -> int | None:
    level = [started]
    while level:
        for pid in level:
            if _is_zygote(pid):
                return pid
        level = [child for pid in level for child in children(pid)]
    return None


def find_zygote(started: int, slot: str) -> int:
    """The host's pid of the zygote: below the launcher that we started, or of this slot."""
    found = _below(started, _children)
    if found is not None:
        return found
    tree: dict[int, list[int]] = {}
    for pid, parent in _parents().items():
        tree.setdefault(parent, []).append(pid)
    found = _below(started, lambda pid: tree.get(pid, []))
    if found is None:
        everyone = (pid for pids in tree.values() for pid in pids)
        found = next((p for p in everyone if _is_zygote(p) and _has_slot(p, slot)), None)
    if found is None:
        raise UserError("proof", slot, f"no timens-bench zygote below process {started}")
    return found


def _scheduler(pid: int) -> str:
    policy = os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
    name = POLICIES.get(policy, str(policy))
    priority = os.sched_getparam(pid).sched_priority
    return f"{name} {priority}" if priority else name


def _status_field(pid: int, name: str) -> str:
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split(":", 1)[1].strip()
    return ""


def look(pid: int) -> Seen:
    """Reads all of it; pid as the host counts."""
    where = PROC / str(pid)
    return Seen(
        namespaces={n: str((where / "ns" / n).readlink()) for n in sorted(ALL_NAMESPACES)},
        timens_offsets=(where / "timens_offsets").read_text(),
        cgroup=(where / "cgroup").read_text(),
        scheduler=_scheduler(pid),
        cpus=sorted(os.sched_getaffinity(pid)),
        seccomp_mode=int(_status_field(pid, "Seccomp") or 0),
        binary_sha256=_binary_sha256(pid),
    )


def _offsets(text: str) -> tuple[str, ...]:
    """("86400.0", "172800.0"): monotonic and boottime, in the order of the file."""
    rows = (line.split() for line in text.splitlines())
    return tuple(f"{row[1]}.{row[2]}" for row in rows if len(row) == 3)


def differences(arm: Arm, seen: Seen, baseline: Seen) -> list[str]:
    """What is not as it must be for this arm to be compared with the baseline."""
    wrong = []
    for field in ("binary_sha256", "scheduler", "cpus"):
        mine, theirs = getattr(seen, field), getattr(baseline, field)
        if mine != theirs:
            wrong.append(f"{field} is {mine}, the baseline's is {theirs}")
    expected = arm.expected
    if expected.same_cgroup and seen.cgroup != baseline.cgroup:
        wrong.append(f"cgroup is {seen.cgroup!r}, the baseline's is {baseline.cgroup!r}")
    if expected.seccomp_mode is not None and seen.seccomp_mode != (
        expected.seccomp_mode or baseline.seccomp_mode
    ):
        wrong.append(f"seccomp mode is {seen.seccomp_mode}, expected {expected.seccomp_mode}")
    if expected.namespaces is not None:
        other = {n for n in ALL_NAMESPACES if seen.namespaces[n] != baseline.namespaces[n]}
        if other != expected.namespaces:
            wrong.append(
                f"namespaces of its own are {sorted(other)}, expected {sorted(expected.namespaces)}"
            )
    if expected.offsets is not None and expected.namespaces and "time" in expected.namespaces:
        wanted = (f"{expected.offsets.monotonic_s}.0", f"{expected.offsets.boottime_s}.0")
        if _offsets(seen.timens_offsets) != wanted:
            wrong.append(f"clock offsets are {_offsets(seen.timens_offsets)}, expected {wanted}")
    return wrong


def prove(arms: Sequence[Arm], seen: Mapping[str, Seen]) -> None:
    """Refuses a study whose arms differ in anything but what they are for."""
    for arm in arms:
        wrong = differences(arm, seen[arm.name], seen["baseline"])
        if wrong:
            raise UserError(
                "proof",
                f"arm {arm.name}",
                "; ".join(wrong),
                hint="arms that differ in more than the treatment cannot be compared",
            )
