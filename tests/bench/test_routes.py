# SPDX-License-Identifier: LGPL-2.1-or-later
"""The route of a metric is the route that its calls really take: strace counts them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from .conftest import PROGRAM, Bench

TIME_CALLS = "clock_getres,clock_gettime,gettimeofday,time"

# What the kernel calls a metric's system call; the longest name that fits counts.
SYSTEM_CALLS = [
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "getppid",
    "gettimeofday",
    "nanosleep",
    "time",
    "timer_create",
    "timer_delete",
    "timer_getoverrun",
    "timer_settime",
    "timerfd_create",
    "timerfd_settime",
]
OTHERS = {"timerfd_close": "close"}

ROWS = json.loads(
    subprocess.run([PROGRAM, "list", "--json"], capture_output=True, check=True).stdout
)
RAW = [row["name"] for row in ROWS if row["route"] == "raw" and row["name"] != "rdtscp"]


def system_call(metric: str) -> str:
    return OTHERS.get(metric) or max(
        (name for name in SYSTEM_CALLS if metric.startswith(name)), key=len
    )


def count(log: Path, traced: str, names: list[str], calls: int, batch: int) -> Counter[str]:
    """How often each system call was made by a record of so many calls of each metric."""
    words = f"strace -qq -e trace={traced} -e signal=none -o {log} {PROGRAM} measure --json"
    amounts = ["--calls", ",".join(f"{name}={calls}" for name in names)]
    amounts += ["--batch", ",".join(f"{name}={batch}" for name in names)]
    subprocess.run(
        [*words.split(), "--metrics", ",".join(names), *amounts],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=60,
    )
    return Counter(line.split("(")[0] for line in log.read_text().splitlines())


@pytest.mark.parametrize("metric", RAW)
def test_a_raw_metric_makes_one_system_call_per_call(tmp_path: Path, metric: str) -> None:
    name = system_call(metric)
    batch = 1 if "nanosleep" in metric else 10

    once, twice = (count(tmp_path / "log", name, [metric], batch * n, batch)[name] for n in (1, 2))

    assert twice - once == batch


@pytest.mark.parametrize("route", ["vdso", "libc"])
def test_a_function_of_the_vdso_makes_no_system_call(tmp_path: Path, route: str) -> None:
    """Neither directly nor through the C library: their number does not depend on the calls."""
    names = [row["name"] for row in ROWS if row["route"] == route]

    once, twice = (count(tmp_path / "log", TIME_CALLS, names, 100 * n, 100) for n in (1, 2))

    assert once == twice


def test_reading_the_counter_makes_no_system_call(tmp_path: Path) -> None:
    """So that neither a seccomp filter nor a time namespace changes the instrument."""
    once, twice = (count(tmp_path / "log", "all", ["rdtscp"], 10 * n, 10) for n in (1, 100))

    assert once == twice


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names x86-64 instructions")
def test_every_system_call_is_timed_at_the_same_place_of_a_line() -> None:
    """After `syscall` near the end of a line of 64 bytes it costs up to 37 % more."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--disassemble=loop_syscall", PROGRAM],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    code = re.findall(r"^ *([0-9a-f]+):\t(\w+)(?: +([0-9a-f]+))?", listing, re.MULTILINE)
    words = [word for _, word, _ in code]

    assert words.count("syscall") == 1
    after_syscall = int(code[words.index("syscall") + 1][0], 16)
    loop_start = int(code[words.index("jne")][2], 16)
    assert loop_start % 64 == 0
    assert after_syscall - loop_start < 32


def test_calibration_suggests_batches_and_calls_for_each_metric(bench: Bench) -> None:
    names = ["getppid", "vdso_clock_gettime_monotonic", "timer_create", "nanosleep"]

    answer = json.loads(bench("calibrate", "--metrics", ",".join(names)).stdout)

    rows = {row["name"]: row for row in answer["metrics"]}
    assert list(rows) == names
    for row in rows.values():
        assert row["calls"] % row["batch"] == 0
    assert rows["vdso_clock_gettime_monotonic"]["batch"] > rows["getppid"]["batch"]
    assert (rows["timer_create"]["batch"], rows["nanosleep"]["batch"]) == (250, 1)
