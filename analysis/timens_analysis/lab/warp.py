# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does a clock go backwards when the next reading comes from another CPU?"""

from __future__ import annotations

from collections.abc import Sequence

from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab.data import Data, Row, spaced
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

TITLE = "Time warps"
QUESTION = (
    "A thread on each CPU looks at the latest reading of all, then reads the clock itself. A"
    " reading that is less is a warp: the clock went backwards between two CPUs. The first article"
    " ran such a test before it trusted a switched clock source, and saw none."
)
UNORDERED = "counter_unordered"
NAMES = {UNORDERED: "rdtsc without order (an artefact, see below)", "counter": "rdtscp or ordered"}
ARTICLE = "time-warp-test beside the loops, with xen and with tsc"
ARTEFACT = (
    "rdtsc alone may be carried out before the load that it should follow: what it read is then"
    " older than the reading that it is compared with. That is the order of instructions, not a"
    " fault of the counter, and its warps count for nothing here."
)
SINCE = (
    "Since the article: processors have invariant counters that all cores share, the kernel checks"
    " them against each other at boot and watches them afterwards, and takes tsc away from"
    " available_clocksource when they part. The article's warning against tsc on EC2 was sound for"
    " Xen guests of 2016 that could be moved between hosts."
)


def section(data: Data) -> Section:
    """What was looked at, how often, and what was found."""
    rows = data.of("warp")
    refused = data.of("refused")
    if refused:
        return Section(
            TITLE, [Text(QUESTION), Text(f"Not here: {refused[0]['refused']}."), Text(SINCE)]
        )
    blocks: list[Block] = [
        Text(QUESTION),
        Text(verdict(rows)),
        _table(rows),
        Figures([_plot(rows)]),
        Text(ARTEFACT),
        Text(SINCE),
    ]
    return Section(TITLE, blocks)


def verdict(rows: Sequence[Row]) -> str:
    """In one sentence; readings without order are not counted."""
    sound = [row for row in rows if row["warp"] != UNORDERED]
    warped = [row["warp"] for row in sound if row["warps"]]
    chances = sum(row["handovers"] for row in sound)
    if not chances:
        return "The CPUs never handed a reading over: nothing can be said; run it longer."
    if warped:
        return f"Clocks went backwards: {', '.join(warped)}. Do not trust this clock source."
    return (
        f"No clock went backwards in {spaced(chances)} handovers between the CPUs"
        f" {', '.join(map(str, sound[0]['cpus']))}: with 95 % confidence, fewer than"
        f" one in {spaced(round(chances / 3))} do."
    )


def _table(rows: Sequence[Row]) -> Table:
    cells: list[list[Cell]] = [
        [
            Cell(NAMES.get(row["warp"]) or str(row["warp"])),
            Cell(spaced(row["reads"]), row["reads"]),
            Cell(spaced(row["handovers"]), row["handovers"]),
            _warps(row),
            Cell(f"{row['worst']} {row['unit']}" if row["warps"] else text.NONE, row["worst"]),
        ]
        for row in rows
    ]
    unsaid = Cell(text.NONE)
    cells.append([Cell(f"article: {ARTICLE}"), unsaid, unsaid, Cell("0", 0), unsaid])
    columns = (
        Column("Clock", numeric=False),
        Column("Readings"),
        Column("Handovers", "readings whose predecessor came from another CPU"),
        Column("Warps"),
        Column("Worst"),
    )
    return Table("Readings that were compared", columns, cells, explain=True)


def _warps(row: Row) -> Cell:
    if row["warp"] == UNORDERED:
        return Cell(f"{row['warps']} (artefact)" if row["warps"] else "0", row["warps"])
    return Cell(str(row["warps"]), row["warps"], mark="bad" if row["warps"] else "good")


def _plot(rows: Sequence[Row]) -> Sheet:
    series = ("readings", "handovers", "warps")
    marked = [
        MarkedRow(
            row["warp"],
            [
                Mark(place, float(row[key]))
                for place, key in enumerate(("reads", "handovers", "warps"))
                if row[key]
            ],
        )
        for row in rows
    ]
    return rows_on_a_scale(
        "Readings, handovers and warps",
        "Counts of each clock; a clock without a triangle had no warp",
        series,
        marked,
        "count",
        log=True,
    )
