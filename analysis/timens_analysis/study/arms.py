# SPDX-License-Identifier: LGPL-2.1-or-later
"""The arms of a study: what each is for, how it is entered, and what must be true inside."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from timens_analysis.errors import UserError
from timens_analysis.study import memory_cgroup

Role = Literal["baseline", "aa", "treatment"]

ALL_NAMESPACES = frozenset({"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"})
BENCH_INSIDE = "/usr/bin/timens-bench"
# Engines start their containers from elsewhere: by this we know ours again.
SLOT_VARIABLE = "TIMENS_SLOT"


@dataclass(frozen=True, slots=True)
class Offsets:
    """Seconds added to the clocks of a time namespace."""

    monotonic_s: int
    boottime_s: int


# Two different ones, so that the proof can tell one clock's from the other's.
OFFSETS = Offsets(monotonic_s=86_400, boottime_s=172_800)


@dataclass(frozen=True, slots=True)
class Expected:
    """What the proof in the header must find; None where the arm's maker decides."""

    namespaces: frozenset[str] | None = frozenset()
    offsets: Offsets | None = Offsets(0, 0)
    seccomp_mode: int | None = 0
    same_cgroup: bool = True


# Engines and own commands decide themselves; what they decided is in the header.
ENGINE = Expected(None, offsets=None, seccomp_mode=None, same_cgroup=False)


@dataclass(frozen=True, slots=True)
class Arm:
    """One level of the study; `command` + "zygote" starts timens-bench inside it.

    {slot} in a word is the name of the process among all of the study, {cpu} the CPU.
    """

    name: str
    role: Role
    command: tuple[str, ...]
    expected: Expected


@dataclass(frozen=True, slots=True)
class Places:
    """Where the programs and the root filesystem lie, and whether root asks."""

    timens_run: Path
    rootfs: Path
    privileged: bool

    @property
    def bench(self) -> Path:
        """The one binary of every arm, also of those outside the root filesystem."""
        return self.rootfs / BENCH_INSIDE.lstrip("/")

    @property
    def bundle(self) -> Path:
        """The root filesystem as an OCI runtime wants it told, beside it."""
        return self.rootfs.with_name(f"{self.rootfs.name}-bundle")


def offset_options(offsets: Offsets) -> tuple[str, ...]:
    """Words for timens-run."""
    return (
        "--monotonic",
        f"{offsets.monotonic_s:+d}",
        "--boottime",
        f"{offsets.boottime_s:+d}",
    )


def _host(role: Role) -> Callable[[str, Places], Arm]:
    def make(name: str, places: Places) -> Arm:
        return Arm(name, role, (str(places.bench),), Expected())

    return make


def _time_namespace(offsets: Offsets) -> Callable[[str, Places], Arm]:
    def make(name: str, places: Places) -> Arm:
        # Another user needs a user namespace first: without one, no other is allowed.
        namespaces = ("time",) if places.privileged else ("user", "time")
        command = (
            str(places.timens_run),
            *("--seccomp", "unconfined", "--only", ",".join(namespaces)),
            *offset_options(offsets),
            *("--", str(places.bench)),
        )
        return Arm(name, "treatment", command, Expected(frozenset(namespaces), offsets))

    return make


def _container(
    *, offsets: Offsets | None = OFFSETS, filtered: bool = False
) -> Callable[[str, Places], Arm]:
    namespaces = ALL_NAMESPACES if offsets else ALL_NAMESPACES - {"time"}

    def make(name: str, places: Places) -> Arm:
        command = (
            str(places.timens_run),
            *(() if filtered else ("--seccomp", "unconfined")),
            *(offset_options(offsets) if offsets else ("--share", "time")),
            str(places.rootfs),
            BENCH_INSIDE,
        )
        expected = Expected(namespaces, offsets=offsets, seccomp_mode=2 if filtered else 0)
        return Arm(name, "treatment", command, expected)

    return make


def _only_user_namespace(name: str, places: Places) -> Arm:
    words = ("--seccomp", "unconfined", "--only", "user", "--")
    command = (str(places.timens_run), *words, str(places.bench))
    return Arm(name, "treatment", command, Expected(frozenset({"user"})))


def _only_filter(name: str, places: Places) -> Arm:
    # Something has to be new; a UTS namespace takes no part in anything that is measured.
    namespace = "uts" if places.privileged else "user"
    words = ("--seccomp", "default", "--only", namespace, "--")
    expected = Expected(frozenset({namespace}), seccomp_mode=2)
    return Arm(name, "treatment", (str(places.timens_run), *words, str(places.bench)), expected)


def _root_memory_cgroup(name: str, places: Places) -> Arm:
    # The shell moves itself, then becomes the zygote.
    move = ("sh", "-c", 'echo $$ >"$0" && exec "$@"', str(memory_cgroup.root_procs()))
    return Arm(name, "treatment", (*move, str(places.bench)), Expected(same_cgroup=False))


def _own_memory_cgroup(name: str, places: Places) -> Arm:
    words = ("--seccomp", "unconfined", "--memory", "1G", "--only", "uts", "--")
    command = (str(places.timens_run), *words, str(places.bench))
    return Arm(name, "treatment", command, Expected(frozenset({"uts"}), same_cgroup=False))


def _podman(name: str, places: Places) -> Arm:
    command = (
        *("podman", "run", "--rm", "--interactive", "--network=none"),
        # In our own cgroup, without a filter, with limits that need no capability to set.
        *("--cgroups=disabled", "--security-opt=seccomp=unconfined"),
        *("--ulimit=nofile=1024:4096", "--ulimit=nproc=4096:4096"),
        *(f"--env={SLOT_VARIABLE}={{slot}}", "--rootfs", str(places.rootfs), BENCH_INSIDE),
    )
    return Arm(name, "treatment", command, ENGINE)


def _crun(name: str, places: Places) -> Arm:
    # What the study appends to every command is part of the bundle here; the shell drops it.
    start = 'exec crun --cgroup-manager=disabled run --bundle "$0" "timens-$$"'
    expected = Expected(None, offsets=None, seccomp_mode=0)
    return Arm(name, "treatment", ("sh", "-c", start, str(places.bundle)), expected)


def _docker(name: str, places: Places) -> Arm:
    command = (
        *("docker", "run", "--rm", "--interactive", "--network=none", "--cpuset-cpus={cpu}"),
        *("--security-opt=seccomp=unconfined", f"--env={SLOT_VARIABLE}={{slot}}"),
        *(f"--mount=type=bind,src={places.bench},dst={BENCH_INSIDE},readonly",),
        *("debian:stable", BENCH_INSIDE),
    )
    return Arm(name, "treatment", command, ENGINE)


# name -> (what it is for, how it is made)
KNOWN: dict[str, tuple[str, Callable[[str, Places], Arm]]] = {
    "baseline": ("the host", _host("baseline")),
    "baseline_aa": ("the host once more: what differs from it is noise", _host("aa")),
    "timens": (
        "a time namespace with both offsets, nothing else",
        _time_namespace(OFFSETS),
    ),
    "container": (
        "a container: all eight namespaces, both offsets, its own root",
        _container(),
    ),
    "timens_zero": ("a time namespace whose offsets are zero", _time_namespace(Offsets(0, 0))),
    "container_notime": (
        "the container without a time namespace: the other seven",
        _container(offsets=None),
    ),
    "container_seccomp": (
        "the container with the default seccomp filter",
        _container(filtered=True),
    ),
    "seccomp": ("the host with the default seccomp filter", _only_filter),
    "userns": ("a user namespace, nothing else", _only_user_namespace),
    "memcg_root": ("the host, without accounting for memory", _root_memory_cgroup),
    "memcg_own": ("the host, in a memory cgroup of its own", _own_memory_cgroup),
    "podman": ("a container of Podman, in the cgroup of the others", _podman),
    "crun": ("a container of crun alone, in the cgroup of the others; as root", _crun),
    "docker": ("a container of Docker, in a cgroup of its own; needs --no-fifo", _docker),
}
DEFAULT = ("baseline", "baseline_aa", "timens", "container")
ALWAYS = ("baseline", "baseline_aa")


def own(text: str, places: Places) -> Arm:
    """An arm of the user's: NAME=COMMAND; `{bench}` is replaced, or the binary's path appended."""
    name, separator, command = text.partition("=")
    if not separator or not name.isidentifier() or name in KNOWN:
        raise UserError("--arm", text, "expected NAME=COMMAND with a new name of letters and _")
    words = shlex.split(command)
    if not words:
        raise UserError("--arm", text, "the command is empty")
    if not any("{bench}" in word for word in words):
        words.append("{bench}")
    replaced = tuple(word.replace("{bench}", str(places.bench)) for word in words)
    return Arm(name, "treatment", replaced, ENGINE)


def restore(name: str, role: Role, command: Sequence[str], places: Places) -> Arm:
    """An arm as a header names it, with what must be true of it."""
    expected = KNOWN[name][1](name, places).expected if name in KNOWN else ENGINE
    return Arm(name, role, tuple(command), expected)


def choose(names: Sequence[str], owns: Sequence[str], places: Places) -> tuple[Arm, ...]:
    """The arms of a run.  Baseline and its A/A twin are always there: no control, no verdict."""
    wanted = [*ALWAYS, *(n for n in names if n not in ALWAYS)]
    for name in wanted:
        if name not in KNOWN:
            raise UserError("--arms", name, "no such arm", hint="one of: " + ", ".join(KNOWN))
    arms = [KNOWN[name][1](name, places) for name in dict.fromkeys(wanted)]
    arms += [own(text, places) for text in owns]
    if len({arm.name for arm in arms}) != len(arms):
        raise UserError("--arm", ", ".join(a.name for a in arms), "two arms have the same name")
    return tuple(arms)
