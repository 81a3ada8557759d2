# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clock in user space on the processor's counter: what it saves, and when it is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab import articles
from timens_analysis.lab.data import Data, Row, clock_source, ns_per_call, spaced
from timens_analysis.lab.plots import Curve, Mark, MarkedRow, over_time, rows_on_a_scale
from timens_analysis.report.document import (
    Block,
    Cell,
    Column,
    Figures,
    Items,
    Section,
    Table,
    Text,
)

TITLE = "A gettimeofday of one's own, on rdtsc"
QUESTION = (
    "The article keeps a time of day and a counter reading, and between two system calls counts on"
    " by dividing ticks by a whole number of MHz. `whole_mhz` is such a clock, `exact` the same"
    " with the frequency as a fraction of 2^32, and `exact_never_reloaded` asks the kernel once."
)
SINCE = (
    "Since the article: the vDSO does the same, with a frequency that the kernel keeps steering, so"
    " what can be saved has shrunk from hundreds of nanoseconds to the difference in the table. The"
    " calibration by a short sleep was never sound: the sleep lasts longer than it says, and a"
    " 32-bit product made the article's third one negative."
)
DIVISION_BY_SLEEP = "sleep"
SHOWN_LIMIT_PERCENT = (1, 99)  # samples that an interrupt met are counted, not drawn
FLAGS = ("constant_tsc", "nonstop_tsc", "tsc_known_freq", "rdtscp")


def section(data: Data) -> Section:
    """Calibration, cost, error, and when to leave it alone."""
    refused = data.of("refused")
    if refused:
        return Section(TITLE, [Text(QUESTION), Text(f"Not here: {refused[0]['refused']}.")])
    parts: dict[str, list[Row]] = {}
    for row in data.of("tsc_clock"):
        parts.setdefault(row["tsc_clock"], []).append(row)
    costs = {row["clock"]: ns_per_call(row, data.ns_per_tick) for row in parts["cost"]}
    saved = costs["vdso_gettimeofday"] - costs["exact"]
    blocks: list[Block] = [
        Text(QUESTION),
        Text(_verdict(saved, parts["error"])),
        _calibration(parts["calibration"]),
        _cost(costs),
        Figures([_cost_plot(costs), _error_plot(parts["error"])]),
        _error(parts["error"]),
        Text("It must not be used where one of these can happen:"),
        Items(_dangers(data)),
        Text(SINCE),
    ]
    return Section(TITLE, blocks)


def _verdict(saved: float, errors: Sequence[Row]) -> str:
    worst = max(abs(error) for _, error, _ in _of(errors, "exact")["samples"])
    gain = f"saves {saved:.1f} ns a reading" if saved > 0 else "saves nothing"
    return (
        f"Against the vDSO's gettimeofday the exact clock {gain} here; it was up to"
        f" {worst / 1e3:.2f} µs from CLOCK_REALTIME."
    )


def _of(rows: Sequence[Row], clock: str) -> Row:
    return next(row for row in rows if row["clock"] == clock)


def _calibration(rows: Sequence[Row]) -> Table:
    truth = float(np.median(next(r["mhz"] for r in rows if r["method"] == "two_points")))
    cells = []
    for row in rows:
        found = np.asarray(row["mhz"], dtype=np.float64)
        worst = float(np.abs(found / truth - 1).max())
        sleeps = row["method"] == DIVISION_BY_SLEEP
        then = articles.GERRY_SLEEPS.get(row["wait_us"]) if sleeps else None
        cells.append(
            [
                Cell("a sleep" if sleeps else "two points, each between two readings"),
                Cell(spaced(row["wait_us"]), row["wait_us"]),
                Cell(", ".join(f"{mhz:.0f}" if sleeps else f"{mhz:.5f}" for mhz in found)),
                Cell(told(worst), worst),
                Cell(text.NONE if then is None else str(then)),
            ]
        )
    columns = (
        Column("Method", numeric=False),
        Column("Wait, µs"),
        Column("MHz found, one try after the other", numeric=False),
        Column("Worst error", "from the median of the two-point method"),
        Column("Article: MHz", f"on a processor of {articles.GERRY_MHZ} MHz"),
    )
    return Table("Finding the frequency of the counter", columns, cells)


def told(share: float) -> str:
    """0.25 -> 25 %, 2e-8 -> 20 ppb"""
    for factor, unit in ((1e2, "%"), (1e6, "ppm")):
        if share * factor >= 1:
            return f"{share * factor:.0f} {unit}"
    return f"{share * 1e9:.0f} ppb"


def _cost(costs: dict[str, float]) -> Table:
    then = {"whole_mhz": articles.GERRY_CLOCK_NS, "gettimeofday": articles.GERRY_SYSTEM_NS}
    cells = [
        [
            Cell(f"`{name}`"),
            Cell(f"{ns:.2f}", ns),
            Cell(text.signed(ns - costs["vdso_gettimeofday"], 2)),
            Cell(f"{then[name]:.0f}" if name in then else text.NONE),
        ]
        for name, ns in costs.items()
    ]
    columns = (
        Column("Clock", numeric=False),
        Column("ns a reading"),
        Column("against the vDSO, ns"),
        Column("Article: ns", "20 and 2.5 million readings a second at 2 GHz"),
    )
    return Table(f"What a reading costs, and {articles.GERRY}", columns, cells)


def _cost_plot(costs: dict[str, float]) -> Sheet:
    return rows_on_a_scale(
        "The cost of a reading",
        "; ".join(f"{name}: {ns:.1f} ns" for name, ns in costs.items()),
        ("median of the batches",),
        [MarkedRow(name, [Mark(0, ns)]) for name, ns in costs.items()],
        "ns a reading",
        log=True,
    )


def _error(rows: Sequence[Row]) -> Table:
    cells = []
    for row in rows:
        errors = np.array([error for _, error, _ in row["samples"]], dtype=np.float64)
        size = np.abs(errors)
        reload_us = row["reload_us"]
        cells.append(
            [
                Cell(f"`{row['clock']}`"),
                Cell(f"{reload_us} µs" if reload_us else "once"),
                Cell(f"{np.median(size):.0f}"),
                Cell(f"{np.percentile(size, 99):.0f}"),
                Cell(f"{size.max():.0f}"),
                Cell(f"{(size >= 1e3).mean():.1%}"),
                Cell(f"{(size >= 1e4).mean():.1%}"),
                Cell(f"{row['backwards']} of {row['readings']}", row["backwards"]),
            ]
        )
    columns = (
        Column("Clock", numeric=False),
        Column("Asks the kernel every", numeric=False),
        Column("Median error, ns"),
        Column("99 %, ns"),
        Column("Worst, ns"),
        Column("1 µs and more"),
        Column("10 µs and more"),
        Column("Stepped back", "readings that were less than the one before"),
    )
    first, second = articles.GERRY_WORST_US
    caption = (
        "Against CLOCK_REALTIME, read before and after; the article's worst were"
        f" {first} and {second} µs"
    )
    return Table(caption, columns, cells)


def _error_plot(rows: Sequence[Row]) -> Sheet:
    everything = [error / 1e3 for row in rows for _, error, _ in row["samples"]]
    low, high = np.percentile(everything, SHOWN_LIMIT_PERCENT)
    reach = max(high - low, 0.1)
    curves, beyond = [], 0
    for row in rows:
        points = [(at / 1e9, error / 1e3) for at, error, _ in row["samples"]]
        shown = [point for point in points if low - reach <= point[1] <= high + reach]
        beyond += len(points) - len(shown)
        curves.append(Curve(row["clock"], shown))
    return over_time(
        "The error over time",
        f"Each clock minus CLOCK_REALTIME in microseconds; {beyond} samples lie beyond the scale",
        curves,
        f"seconds ({beyond} samples beyond the scale)",
        "error, µs",
    )


def _dangers(data: Data) -> list[tuple[str, str]]:
    flags = set(data.about["cpu_flags"])
    has = ", ".join(f for f in FLAGS if f in flags) or "none of " + ", ".join(FLAGS)
    available = data.host["clocksource"]["available"]
    trusted = "trusts" if "tsc" in available else "does not trust"
    guest = data.host["hypervisor"]
    where = f"This is a guest (hypervisor: {guest})" if guest else "This is not a guest"
    return [
        (
            "Counters that do not agree",
            "between sockets, or where the firmware set one: a thread that moves then reads"
            f" another time. The kernel {trusted} the counter here (clock source"
            f" `{clock_source(data.host)}`); the processor says {has}.",
        ),
        (
            "Migration",
            "of the thread matters only when the counters differ, of the whole guest always: the"
            f" new host's counter may run at another rate. {where}. The kernel is told of it, the"
            " clock is not.",
        ),
        (
            "Suspend",
            "the counter may stop or start again from 0, and the clock is wrong by as long as the"
            " machine slept until it asks the kernel again.",
        ),
        (
            "Steered time",
            "NTP slews and steps CLOCK_REALTIME; the clock follows only when it asks.",
        ),
        (
            "Time namespaces",
            "the counter has no offset: a clock of this kind for CLOCK_MONOTONIC or CLOCK_BOOTTIME"
            " would show the host's time inside, unless its base comes from the system call.",
        ),
    ]
