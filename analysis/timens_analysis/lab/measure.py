# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carry the experiments out: what timens-bench, strace and the study's own runner measure."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.lab import anatomy, clock_switch, clocksource, folder, loops, vdso_used
from timens_analysis.lab.data import Row
from timens_analysis.study import host, memory_cgroup, metrics, scheduling, session
from timens_analysis.study.header import now_utc
from timens_analysis.study.programs import find
from timens_analysis.study.session import Listeners, Wish

STRACE_HINT = "apt-get install strace"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured; `quick` is for a first look and for tests."""

    loops: tuple[tuple[int, int, int], ...]  # (calls, rounds, parts of each loop)
    strace_calls: int
    warp_ms: int
    clock_seconds: int
    clock_samples: int
    profile: str
    anatomy_blocks: int
    fine_blocks: int
    clocksource_blocks: int


FULL = Size(
    loops=((5_000_000, 15, 1), (50_000_000, 6, 1), (500_000_000, 1, 10)),
    strace_calls=20_000,
    warp_ms=2000,
    clock_seconds=10,
    clock_samples=500,
    profile="quick",
    anatomy_blocks=60,
    fine_blocks=240,
    clocksource_blocks=24,
)
QUICK = Size(
    loops=((20_000, 7, 1), (200_000, 2, 1), (400_000, 1, 10)),
    strace_calls=500,
    warp_ms=50,
    clock_seconds=1,
    clock_samples=50,
    profile="smoke",
    anatomy_blocks=6,
    fine_blocks=8,
    clocksource_blocks=6,
)


@dataclass(frozen=True, slots=True)
class Job:
    """Where results go, how large, and who is told."""

    output: Path
    size: Size
    listen: Listeners
    warn: Callable[[str], None]  # said whatever else is kept quiet
    argv: tuple[str, ...]

    def about(self, **more: Any) -> dict[str, Any]:
        """The first line of an experiment's file."""
        calibration = metrics.ask_bench(find("timens-bench"), "calibrate")
        return {
            "started": now_utc(),
            "argv": list(self.argv),
            "quick": self.size is QUICK,
            "ns_per_tick": calibration["ns_per_tick"],
            "host": host.describe(),
            "cpu_flags": host.cpuinfo().get("flags", "").split(),
            **more,
        }


def bench(*words: str) -> list[Row]:
    """The rows that an experiment of timens-bench prints, or its own words of refusal."""
    command = [str(find("timens-bench")), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _refusal(words[0], done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _refusal(subject: str, said: str) -> UserError:
    lines = said.strip().splitlines() or ["failed"]
    hint = next((line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")), None)
    cause = lines[0].removeprefix("timens-bench: ").removeprefix(f"{subject}: ")
    return UserError("lab", subject, cause, hint=hint)


def measure_vdso_used(job: Job) -> None:
    """The probe, the price of each reading, and strace as the check."""
    about = job.about()
    rows = bench("vdso-used")
    names = dict.fromkeys(vdso_used.metric_of(row["vdso_used"], row["clock"] or "") for row in rows)
    available = metrics.ask_bench(find("timens-bench"), "list", "--json")
    known = [m["name"] for m in available if m["name"].removeprefix("vdso_") in names]
    rows += bench("measure", "--json", "--metrics", ",".join(known))
    for function in ("vdso_gettimeofday", "gettimeofday"):
        rows.append(_check_by_strace(function, job.size.strace_calls))
    folder.write(job.output, "vdso-used", about, rows)


def _check_by_strace(function: str, calls: int) -> Row:
    """How many system calls gettimeofday strace sees of so many readings."""
    what = {"strace_calls": None, "function": function, "calls": calls}
    route = "vdso" if function.startswith("vdso") else "raw"
    try:
        seen = loops_under_strace(route, calls)
    except UserError as error:
        return {**what, "refused": error.cause}
    return {**what, "strace_calls": seen["strace_calls"]}


def strace(
    words: Sequence[str], **more: Any
) -> tuple[dict[str, int], subprocess.CompletedProcess[str]]:
    """Counts the system calls for the time of a command and its children."""
    if shutil.which("strace") is None:
        raise UserError("lab", "strace", "not found", hint=STRACE_HINT)
    with tempfile.NamedTemporaryFile("r", prefix="timens-strace-") as report:
        calls = "trace=" + ",".join(f"?{name}" for name in vdso_used.TIME_CALLS)
        options = ("-f", "-c", "--seccomp-bpf", "-e", calls, "-o", report.name)
        done = subprocess.run(["strace", *options, "--", *words], text=True, check=False, **more)
        return vdso_used.strace_counts(report.read()), done


# The system call that a route would fall back to.
ENTERS_AS = {"raw": "gettimeofday", "vdso": "gettimeofday", "coarse": "clock_gettime"}


def loops_under_strace(route: str, calls: int) -> Row:
    """One loop of timens-bench with strace at its heels."""
    words = (str(find("timens-bench")), "loops", "--calls", str(calls), route)
    seen, done = strace(words, capture_output=True)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["failed"])[0]
        raise UserError("lab", "strace", re.sub(r"^\S*strace: ", "", cause))
    row = json.loads(done.stdout)
    counted = seen.get(ENTERS_AS[route], 0)
    return {"route": route, "calls": calls, "strace_calls": counted, "real_ns": row["real_ns"]}


def measure_loops(job: Job) -> None:
    """Rounds of all routes in turn; which one begins changes from round to round.

    A round is one process for each route, or, where that takes minutes, a part of one process
    that goes through all routes part by part.
    """
    about = job.about()
    rows: list[Row] = []
    how = scheduling.choose(None)  # as the study: one CPU, and nobody before us where allowed
    for calls, rounds, parts in job.size.loops:
        for number in range(rounds):
            unit = f"round {number + 1} of {rounds}" if parts == 1 else f"in {parts} parts"
            job.listen.say(f"loops: {calls} calls, {unit}")
            with how.applied():
                rows += _round(calls, number, parts)
    for route in loops.MODES.values():
        try:
            rows.append(loops_under_strace(route, job.size.strace_calls))
        except UserError as error:
            rows.append({"strace_calls": None, "refused": error.cause})
            break
    folder.write(job.output, "loops", about, rows)


def _round(calls: int, number: int, parts: int) -> list[Row]:
    routes = list(loops.ROUTES)
    if parts > 1:
        words = ("--calls", str(calls), "--parts", str(parts), *routes)
        return [{**row, "round": row["part"]} for row in bench("loops", *words)]
    turned = routes[number % 3 :] + routes[: number % 3]
    found = [row for route in turned for row in bench("loops", "--calls", str(calls), route)]
    return [{**row, "round": number} for row in found]


def measure_warp(job: Job) -> None:
    """All clocks, on all CPUs that we may use."""
    _measure_by_bench(job, "warp", "warp", "--ms", str(job.size.warp_ms))


def measure_tsc_clock(job: Job) -> None:
    """Calibrations, costs and errors."""
    size = job.size
    words = ("--seconds", str(size.clock_seconds), "--samples", str(size.clock_samples))
    _measure_by_bench(job, "tsc-clock", "tsc-clock", *words)


def _measure_by_bench(job: Job, name: str, *words: str) -> None:
    folder.write(job.output, name, job.about(), bench(*words))


def _wish(job: Job, where: str, arms: tuple[str, ...], names: Sequence[str], blocks: int) -> Wish:
    return Wish(
        profile=job.size.profile,
        design="blocks",
        arms=arms,
        owns=(),
        metrics=",".join(names),
        output=job.output / where,
        rootfs=None,
        rootfs_from="busybox",
        seed=None,
        blocks=blocks,
        replicates=1,
        cpu=None,
        fifo=True,
        argv=job.argv,
    )


def _study(job: Job, where: str, arms: tuple[str, ...], names: Sequence[str], blocks: int) -> None:
    shutil.rmtree(job.output / where, ignore_errors=True)
    offered = metrics.ask_bench(find("timens-bench"), "list", "--json")
    here = {row["name"] for row in offered if row["available"]}
    session.start(_wish(job, where, arms, [n for n in names if n in here], blocks), job.listen)


def memory_arm() -> str | None:
    """The arm on the other side of memory accounting; only root can go there."""
    if os.geteuid() != 0 or memory_cgroup.root_procs() is None:
        return None
    return anatomy.MEMCG_OWN if memory_cgroup.place() == memory_cgroup.ROOT else anatomy.MEMCG_ROOT


def measure_anatomy(job: Job) -> None:
    """One study over all pieces, and one with more blocks for the smallest."""
    other = memory_arm()
    studies = {anatomy.MAIN: "anatomy", anatomy.FINE: "anatomy-fine"}
    about = job.about(memory_arm=other, studies=studies)
    arms = (*anatomy.ARMS, *((other,) if other else ()))
    _study(job, "anatomy", arms, anatomy.METRICS, job.size.anatomy_blocks)
    _study(job, "anatomy-fine", anatomy.FINE_ARMS, anatomy.FINE_METRICS, job.size.fine_blocks)
    folder.write(job.output, "anatomy", about, [])


def measure_clocksource(job: Job) -> None:
    """A study with each source in turn, then the first one again."""
    clock_switch.refuse_unless_possible()
    folder.make(job.output)
    sources = host.clocksource()
    job.warn(clocksource.warning(sources["current"], sources["available"]))
    about = job.about(studies={name: f"clocksource-{name}" for name in sources["available"]})
    rows = []
    with clock_switch.switching() as choose:
        for name in sources["available"]:
            started = time.monotonic()
            choose(name)
            _study(
                job,
                f"clocksource-{name}",
                ("timens",),
                clocksource.METRICS,
                job.size.clocksource_blocks,
            )
            rows.append({"source": name, "seconds": round(time.monotonic() - started, 1)})
    folder.write(job.output, "clocksource", about, rows)


EXPERIMENTS: dict[str, Callable[[Job], None]] = {
    "vdso-used": measure_vdso_used,
    "loops": measure_loops,
    "clocksource": measure_clocksource,
    "warp": measure_warp,
    "tsc-clock": measure_tsc_clock,
    "anatomy": measure_anatomy,
}


def write_refusal(job: Job, name: str, error: UserError) -> None:
    """When all are asked for, one that cannot be done here says so on the page."""
    folder.write(job.output, name, job.about(), [{"refused": error.cause}])


def watch(words: Sequence[str]) -> tuple[int, list[Row]]:
    """Runs a command under the filter; its own streams, its exit status, what was counted."""
    with tempfile.NamedTemporaryFile("r", prefix="timens-lab-") as report:
        command = [str(find("timens-bench")), "vdso-used", "-o", report.name, *words]
        done = subprocess.run(command, check=False)
        rows = [json.loads(line) for line in report.read().splitlines()]
    return done.returncode, rows
