# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the lab's experiments say: loops, warp, tsc-clock and vdso-used."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import PROGRAM, Bench, Record

APART_US = 1000  # the two readings of each end
CLOCKSOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
SERVED_BY_THE_VDSO = {"tsc", "kvm-clock", "arch_sys_counter"}


def rows(bench: Bench, *args: str, **more: Any) -> list[Record]:
    result = bench(*args, **more)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_loops_make_the_same_number_of_calls_by_each_route(bench: Bench) -> None:
    runs = rows(bench, "loops", "--calls", "100000")

    assert [(r["loop"], r["vsyscall64"]) for r in runs] == [
        ("raw", 0),
        ("vdso", 1),
        ("coarse", 2),
        ("libc", None),
    ]
    for run in runs:
        assert run["calls"] == 100_000 == run["slice_calls"] * len(run["slice_ticks"])
    cost = {run["loop"]: statistics.median(run["slice_ticks"]) for run in runs}
    assert cost["coarse"] < cost["vdso"] < cost["raw"]


def test_loops_in_parts_take_turns_and_are_timed_part_by_part(bench: Bench) -> None:
    parts = rows(bench, "loops", "--calls", "100000", "--parts", "4", "vdso", "raw", "coarse")

    turns = [(r["part"], r["loop"]) for r in parts]
    assert turns == [
        *((0, "raw"), (0, "vdso"), (0, "coarse")),
        *((1, "vdso"), (1, "coarse"), (1, "raw")),
        *((2, "coarse"), (2, "raw"), (2, "vdso")),
        *((3, "raw"), (3, "vdso"), (3, "coarse")),
    ]
    for part in parts:
        assert (part["parts"], part["calls"], len(part["slice_ticks"])) == (4, 25_000, 25)
        assert part["user_us"] + part["sys_us"] <= part["real_ns"] / 1000 + APART_US


@pytest.mark.parametrize("parts", ["1", "2"])
def test_loops_that_cannot_tell_fail(parts: str) -> None:
    words = [PROGRAM, "loops", "--calls", "1000", "--parts", parts, "coarse"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    said = "timens-bench: cannot write to standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_loops_run_only_the_routes_that_are_named(bench: Bench) -> None:
    assert [r["loop"] for r in rows(bench, "loops", "--calls", "1000", "coarse")] == ["coarse"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["loops", "tunnel"], "loops: 'tunnel' is not a route"),
        (["loops", "--calls", "99"], "loops: --calls: '99' is not a number from 100 to 1000000000"),
        (["loops", "--parts", "7"], "loops: --parts: '7' does not divide 100"),
        (["warp", "--ms", "0"], "warp: --ms is a number from 1 to 600000: 0"),
        (["tsc-clock", "--samples", "x"], "tsc-clock: --samples: 'x' is not a number from 1 to"),
        (["vdso-used", "-o", "/nowhere/x"], "vdso-used: /nowhere/x: No such file or directory"),
    ],
)
def test_a_wrong_word_is_refused(bench: Bench, args: list[str], message: str) -> None:
    result = bench(*args)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"timens-bench: {message}")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="clocks are compared between CPUs")
def test_no_clock_goes_backwards_between_cpus(bench: Bench) -> None:
    """The unordered counter is there to show what an artefact looks like: it may, or may not."""
    found = {row["warp"]: row for row in rows(bench, "warp", "--ms", "50")}

    assert {"counter", "vdso_monotonic", "monotonic"} < set(found)
    assert sum(row["handovers"] for row in found.values()) > 0
    del found["counter_unordered"]
    assert {name: row["warps"] for name, row in found.items()} == dict.fromkeys(found, 0)


def test_one_cpu_alone_has_nothing_to_compare(bench: Bench) -> None:
    cpu = min(os.sched_getaffinity(0))

    result = bench("warp", preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines()[0] == (
        "timens-bench: warp: only one CPU may be used, there is nothing to compare"
    )


@pytest.fixture(scope="module")
def tsc_clock() -> dict[str, list[Record]]:
    """One run of tsc-clock, by its three parts."""
    words = ["tsc-clock", "--seconds", "1", "--samples", "50", "--reload-us", "2000"]
    result = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, check=True, timeout=60)
    parts: dict[str, list[Record]] = {}
    for line in result.stdout.splitlines():
        row = json.loads(line)
        parts.setdefault(row["tsc_clock"], []).append(row)
    return parts


def test_a_clock_on_the_counter_says_what_it_costs_and_how_wrong_it_is(
    tsc_clock: dict[str, list[Record]],
) -> None:
    parts = tsc_clock

    assert [a["clock"] for a in parts["cost"]] == [
        "whole_mhz",
        "exact",
        "exact_never_reloaded",
        "vdso_gettimeofday",
        "gettimeofday",
    ]
    cost = {a["clock"]: statistics.median(a["batch_ticks"]) for a in parts["cost"]}
    assert cost["exact"] < cost["gettimeofday"]

    whole, exact, never = (
        statistics.median(abs(error) for _, error, _ in a["samples"]) for a in parts["error"]
    )
    assert exact < whole < 5_000  # ns: what whole microseconds and whole MHz can lose in 2 ms
    assert never < 5_000
    assert [a["reload_us"] for a in parts["error"]] == [2000, 2000, None]
    assert parts["error"][2]["reloads"] == 1
    assert all(len(a["samples"]) == 50 for a in parts["error"])


def test_sleeping_is_no_calibration_but_two_bracketed_points_are(
    tsc_clock: dict[str, list[Record]],
) -> None:
    """A short sleep lasts longer than it says, so the counter seems to be faster."""
    found = {(a["method"], a["wait_us"]): a["mhz"] for a in tsc_clock["calibration"]}
    two_points = found["two_points", 500_000]
    assert max(two_points) - min(two_points) < 1e-5 * min(two_points)
    assert min(found["sleep", 10]) > 1.5 * max(two_points)


def test_a_vdso_answer_is_one_that_needs_no_system_call(bench: Bench) -> None:
    found = {
        (row["vdso_used"], row["clock"], row["route"]): (row["answer"], row["reason"])
        for row in rows(bench, "vdso-used")
    }

    for route in ("vdso", "libc"):
        coarse = found["clock_gettime", "CLOCK_MONOTONIC_COARSE", route]
        cpu_time = found["clock_gettime", "CLOCK_PROCESS_CPUTIME_ID", route]
        alarm = found["clock_gettime", "CLOCK_BOOTTIME_ALARM", route]
        assert coarse == ("user_space", None)
        assert cpu_time == ("system_call", "cpu_time_clock")
        assert alarm == ("system_call", "clock_id")
        served = CLOCKSOURCE.read_text().strip() in SERVED_BY_THE_VDSO
        by_counter = ("user_space", None) if served else ("system_call", "clock_source")
        assert found["clock_gettime", "CLOCK_MONOTONIC", route] == by_counter
        assert found["gettimeofday", None, route] == by_counter


def count(bench: Bench, program: Path, calls: int) -> int:
    """How many system calls are seen of a command that makes `calls` and some more."""
    [row] = [
        row
        for row in rows(
            bench,
            *("vdso-used", "-o", "/dev/stdout", str(program), "measure", "--json"),
            *("--metrics", "clock_gettime_process_cputime"),
            *("--batch", "clock_gettime_process_cputime=10"),
            *("--calls", f"clock_gettime_process_cputime={calls}"),
        )
        if row.get("clock") == "CLOCK_PROCESS_CPUTIME_ID"
    ]
    assert (row["system_call"], row["clock_id"]) == ("clock_gettime", 2)
    return int(row["calls"])


def test_a_commands_system_calls_for_the_time_are_counted(bench: Bench, program: Path) -> None:
    assert count(bench, program, 500) - count(bench, program, 100) == 400


def test_what_stays_in_user_space_is_not_counted(bench: Bench) -> None:
    """date(1) reads the time of day, but asks nobody for it."""
    if CLOCKSOURCE.read_text().strip() not in SERVED_BY_THE_VDSO:
        pytest.skip("the kernel's clock source cannot be read in user space")

    result = bench("vdso-used", "date", "+%N")

    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("exit 3", 3),
        ("kill -TERM $$", 128 + signal.SIGTERM),
        ("(sleep 0.1; true) & exit 4", 4),
    ],
)
def test_the_status_of_a_watched_command_is_passed_on(
    bench: Bench, command: str, status: int
) -> None:
    assert bench("vdso-used", "sh", "-c", command).returncode == status


def test_a_command_that_does_not_exist_is_told(bench: Bench) -> None:
    result = bench("vdso-used", "no-such-command")

    assert (result.returncode, result.stdout) == (127, "")
    assert result.stderr == (
        "timens-bench: vdso-used: no-such-command: No such file or directory\n"
    )


def test_two_watchers_cannot_watch_the_same_command(bench: Bench, program: Path) -> None:
    result = bench("vdso-used", str(program), "vdso-used", "true")

    assert result.returncode == 1
    assert result.stderr.splitlines()[0] == (
        "timens-bench: vdso-used: cannot load a seccomp filter: Device or resource busy"
    )
