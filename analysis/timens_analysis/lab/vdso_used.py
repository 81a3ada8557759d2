# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which readings of the time stay in user space, and why the others do not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab import articles
from timens_analysis.lab.data import Data, Row, clock_source, ns_per_call
from timens_analysis.lab.plots import Mark, MarkedRow, rows_on_a_scale
from timens_analysis.report.document import (
    Block,
    Cell,
    Column,
    Figures,
    Section,
    Table,
    Text,
)

TITLE = "Which readings of the time stay in user space"
QUESTION = (
    "A child process forbids itself the system calls that read the time, then reads the time: what"
    " answers nevertheless came from user space. That is exact, needs no privileges and works in"
    " containers; the first article counted lines of strace for it."
)
REASONS = {
    "cpu_time_clock": "a CPU-time clock: only the kernel knows what this thread has used",
    "clock_id": "no function of the vDSO serves this clock",
    "clock_source": "the clock source cannot be read in user space",
    "missing": "the vDSO has no such function",
}
DIRECT = "the program made the system call itself, past the vDSO"
ANSWERS = {
    "user_space": Cell("user space", mark="good"),
    "system_call": Cell("system call", mark="warn"),
    "missing": Cell("none", mark="warn"),
    "error": Cell("refused", mark="bad"),
}
SINCE = (
    "Since the article: Xen's clock, kvm-clock and Hyper-V's can be read in user space today, so"
    " the clouds of 2016 no longer show the case. acpi_pm never could be; hpet could, and no longer"
    " can. CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW and clock_getres have joined the vDSO."
    " CPU-time and alarm clocks fall back for good, whatever the clock source."
)
TIME_CALLS = ("clock_gettime", "clock_getres", "gettimeofday", "time")


def section(data: Data) -> Section:
    """The table of all functions and clocks, and the price of each."""
    probes = data.of("vdso_used")
    inside = [p for p in probes if p["route"] == "vdso" and p["answer"] == "user_space"]
    count = sum(p["route"] == "vdso" for p in probes)
    source = clock_source(data.host)
    blocks: list[Block] = [
        Text(QUESTION),
        Text(
            f"Here, with clock source `{source}`, {len(inside)} of {count} functions and clocks of"
            " the vDSO answer in user space."
        ),
        _table(probes, _costs(data)),
    ]
    if data.of("metric"):
        blocks.append(Figures([_plot(data)]))
    blocks += [_strace(data.of("strace_calls")), Text(SINCE)]
    return Section(TITLE, blocks)


def _key(row: Row) -> tuple[str, str]:
    return row["vdso_used"], row["clock"] or ""


def _costs(data: Data) -> Mapping[str, float]:
    return {row["metric"]: ns_per_call(row, data.ns_per_tick) for row in data.of("metric")}


def metric_of(function: str, clock: str) -> str:
    """The name that timens-bench gives the system call: clock_gettime_process_cputime, time."""
    if function != "clock_gettime":
        return function
    return f"{function}_{clock.removeprefix('CLOCK_').removesuffix('_ID').lower()}"


def _table(probes: Sequence[Row], costs: Mapping[str, float]) -> Table:
    by_route = {(*_key(row), row["route"]): row for row in probes}
    rows = []
    for function, clock in dict.fromkeys(_key(row) for row in probes):
        vdso, libc = (by_route[function, clock, route] for route in ("vdso", "libc"))
        why = vdso["reason"] or libc["reason"]
        metric = metric_of(function, clock)
        known = function != "clock_getres" or clock == "CLOCK_MONOTONIC"
        cost = (costs.get(f"vdso_{metric}"), costs.get(metric)) if known else (None, None)
        rows.append(
            [
                Cell(function),
                Cell(clock or text.NONE),
                ANSWERS[vdso["answer"]],
                ANSWERS[libc["answer"]],
                *(Cell(text.NONE if ns is None else f"{ns:.1f}", ns) for ns in cost),
                Cell(REASONS[why] if why else ""),
            ]
        )
    columns = (
        Column("Function", numeric=False),
        Column("Clock", numeric=False),
        Column("vDSO", numeric=False),
        Column("C library", "of timens-bench, which is linked statically", numeric=False),
        Column("vDSO, ns", "median over batches"),
        Column("System call, ns", "the same reading by the system call instruction"),
        Column("Why it enters the kernel", numeric=False),
    )
    return Table("Answers", columns, rows, grouped=1)


def _plot_rows(costs: Mapping[str, float]) -> Iterator[MarkedRow]:
    for name, ns in costs.items():
        if not name.startswith(("vdso_", "libc_")):
            vdso = costs.get(f"vdso_{name}")
            marks = [*([Mark(0, vdso)] if vdso else []), Mark(1, ns)]
            yield MarkedRow(name, marks)


def _plot(data: Data) -> Sheet:
    return rows_on_a_scale(
        "What a reading of the time costs",
        "Nanoseconds of each reading, by the vDSO where it has it and by system call; the same"
        " numbers are in the table",
        ("vDSO", "system call"),
        list(_plot_rows(_costs(data))),
        "ns a call",
        log=True,
    )


def _strace(checks: Sequence[Row]) -> Table:
    made, seen = articles.EC2_STRACE
    rows = [
        [Cell(f"gettimeofday on {articles.EC2_MACHINE}"), Cell(str(made)), Cell(str(seen))],
        *(
            [
                Cell(f"`{check['function']}` here"),
                Cell(str(check["calls"])),
                Cell(check.get("refused") or str(check["strace_calls"])),
            ]
            for check in checks
        ),
    ]
    columns = (
        Column("Reading", numeric=False),
        Column("Readings made"),
        Column("System calls that strace saw"),
    )
    return Table("strace as the check, then and now", columns, rows)


def strace_counts(report: str) -> dict[str, int]:
    """System calls for the time in what `strace -c` printed."""
    found = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", report, re.MULTILINE)
    return {name: int(calls) for calls, name in found if name in TIME_CALLS}


def command_section(
    words: str, data: Data, tallies: Sequence[Row], confirmed: Mapping[str, int] | str
) -> Section:
    """What one command did; `confirmed` is strace's count, or why there is none."""
    probes = [p for p in data.of("vdso_used") if p["route"] == "libc"]
    rows = [
        [
            Cell(f"`{t['system_call']}`"),
            Cell(t["clock"] or text.NONE),
            Cell(str(t["calls"]), t["calls"]),
            Cell(why_of(t, probes)),
        ]
        for t in tallies
    ]
    said = "No reading of the time entered the kernel: what there was stayed in user space."
    if rows:
        said = "These readings of the time entered the kernel; all others stayed in user space."
    if isinstance(confirmed, str):
        check = f"Not confirmed by strace: {confirmed}."
    else:
        told = ", ".join(f"{calls} `{name}`" for name, calls in confirmed.items()) or "none of them"
        check = f"`strace -f -c --seccomp-bpf`, over a second run of the command, saw {told}."
    columns = (
        Column("System call", numeric=False),
        Column("Clock", numeric=False),
        Column("Calls"),
        Column("Why", numeric=False),
    )
    blocks: list[Block] = [Text(said)]
    if rows:
        blocks.append(Table("Seen by the filter", columns, rows))
    return Section(f"Readings of the time by `{words}`", [*blocks, Text(check)])


def why_of(tally: Row, probes: Sequence[Row]) -> str:
    """As the probe says of the same reading; what it can read without the kernel was asked so."""
    clock = tally["clock"]
    if tally.get("clock_id", 0) < 0:  # the CPU time of another process or thread
        return REASONS["cpu_time_clock"]
    for probe in probes:
        if (probe["vdso_used"], probe["clock"]) == (tally["system_call"], clock):
            return REASONS[probe["reason"]] if probe["reason"] else DIRECT
    return ""
