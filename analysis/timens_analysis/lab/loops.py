# SPDX-License-Identifier: LGPL-2.1-or-later
"""gettimeofday in a loop: through the vDSO, by system call, and coarse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab import articles
from timens_analysis.lab.articles import Times
from timens_analysis.lab.data import Data, Row, median_interval, spaced
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
from timens_analysis.stats.describe import Interval

TITLE = "Millions of gettimeofday calls"
QUESTION = (
    "The same loop of calls, timed as time(1) times it: through the vDSO, by system call, and"
    " through the vDSO for the coarse clock. These three are today's form of the modes 1, 0 and 2"
    " of `/proc/sys/kernel/vsyscall64`, a file that no longer exists."
)
ROUTES = {"vdso": "vDSO", "raw": "system call", "coarse": "coarse, vDSO"}
MODES = {0: "raw", 1: "vdso", 2: "coarse"}
PARTS = (
    "The longest loop is one process, which goes through all three routes part by part, so that"
    " each part has neighbours in time by the other routes. Its parts share all that a process"
    " draws once (its memory, its place in the caches) and follow one another: their interval says"
    " how steady this one process was, while the intervals over processes also hold what the next"
    " process would draw."
)
SINCE = (
    "System calls pay for the mitigations of 2018 and later, as far as this processor needs them;"
    " the switch of modes is gone: the vDSO is always there, and a program chooses the coarse clock"
    " by its clock id. “77 % slower” in the title was the time saved, 1 − 12.2/54.6; turned round,"
    " the system call took 4.5 times as long."
)


def section(data: Data) -> Section:
    """Both articles beside our loops."""
    loops = data.of("loop")
    blocks: list[Block] = [
        Text(QUESTION),
        _times(loops),
        Text(_verdict(loops)),
        *([Text(PARTS)] if any("parts" in row for row in loops) else []),
        _slowdowns(loops),
        Figures([_plot(data, loops)]),
        _modes(data.of("strace_calls")),
        Text(_since(data, loops)),
    ]
    return Section(TITLE, blocks)


def slowdown(loops: Sequence[Row], calls: int) -> Interval | None:
    """How many times as long the system call takes: the ratio of each round, then its median."""
    return median_interval(_ratios(loops, calls))


def _ratios(loops: Sequence[Row], calls: int) -> list[float]:
    """Of the median hundredths, which a neighbour on the machine disturbs less than the whole."""
    by_round: dict[int, dict[str, float]] = {}
    for row in loops:
        if whole_calls(row) == calls:
            middle = float(np.median(row["slice_ticks"]))
            by_round.setdefault(row["round"], {})[row["loop"]] = middle
    return [found["raw"] / found["vdso"] for found in by_round.values()]


def whole_calls(row: Row) -> int:
    """Of the loop that the row is, or is a part of."""
    return int(row["calls"]) * int(row.get("parts", 1))


def _counts(loops: Sequence[Row]) -> list[int]:
    return sorted({whole_calls(row) for row in loops})


def _chosen(loops: Sequence[Row], calls: int, route: str) -> list[Row]:
    return [row for row in loops if whole_calls(row) == calls and row["loop"] == route]


def _unit(loops: Sequence[Row], calls: int) -> str:
    """What is counted: what another of the same would differ in is in the interval."""
    rows = _chosen(loops, calls, "vdso")
    return f"{len(rows)} parts of one process" if _in_parts(rows) else f"{len(rows)} processes"


def _in_parts(rows: Sequence[Row]) -> bool:
    return "parts" in rows[0]


def _times_of(loops: Sequence[Row], calls: int, route: str) -> Times:
    """Of a loop: the sum of its parts, or the median over the processes."""
    rows = _chosen(loops, calls, route)
    middle = np.sum if _in_parts(rows) else np.median
    real, user, system = (
        float(middle([row[key] for row in rows])) for key in ("real_ns", "user_us", "sys_us")
    )
    return Times(real / 1e9, user / 1e6, system / 1e6)


def _real_ns(loops: Sequence[Row], calls: int, route: str) -> list[float]:
    """Of one call, for every process or part."""
    return [row["real_ns"] / row["calls"] for row in _chosen(loops, calls, route)]


def _cells(times: Times | None) -> list[Cell]:
    if times is None:
        return [Cell(text.NONE)] * 3
    return [Cell(f"{s:.3f}", s) for s in (times.real_s, times.user_s, times.sys_s)]


def _times(loops: Sequence[Row]) -> Table:
    rows = []
    for calls in _counts(loops):
        then = articles.EC2_LOOPS.get(calls)
        printed: Mapping[str, Times] = dict(zip(("vdso", "raw"), then or (), strict=False))
        for route, name in ROUTES.items():
            ours = _times_of(loops, calls, route)
            each = _real_ns(loops, calls, route)
            interval = median_interval(each)
            rows.append(
                [
                    Cell(spaced(calls), calls),
                    Cell(name),
                    *_cells(ours),
                    Cell(f"{np.median(each):.2f}"),
                    Cell(f"[{interval.low:.2f}, {interval.high:.2f}]" if interval else text.NONE),
                    Cell(_unit(loops, calls)),
                    *_cells(printed.get(route)),
                ]
            )
    columns = (
        Column("Calls"),
        Column("Route", numeric=False),
        *(
            Column(f"{name}, s", "median over the processes; of parts, the sum")
            for name in ("real", "user", "sys")
        ),
        Column("real, ns a call", "median over processes or parts"),
        Column("95 %", "of that median"),
        Column("Over", "what the median and its interval are taken over", numeric=False),
        *(Column(f"article: {name}, s", articles.EC2_MACHINE) for name in ("real", "user", "sys")),
    )
    return Table(f"Here, and {articles.EC2}", columns, rows, grouped=1)


def _slowdowns(loops: Sequence[Row]) -> Table:
    rows = []
    for calls in _counts(loops):
        ratio = float(np.median(_ratios(loops, calls)))
        interval = slowdown(loops, calls)
        then = articles.EC2_LOOPS.get(calls)
        printed = then[1].real_s / then[0].real_s if then else None
        rows.append(
            [
                Cell(spaced(calls), calls),
                Cell(f"{ratio:.2f}"),
                Cell(f"[{interval.low:.2f}, {interval.high:.2f}]" if interval else text.NONE),
                Cell(_unit(loops, calls)),
                Cell(f"{100 * (1 - 1 / ratio):.1f} %"),
                Cell(f"{printed:.2f}" if printed else text.NONE),
                Cell(f"{100 * (1 - 1 / printed):.1f} %" if printed else text.NONE),
            ]
        )
    columns = (
        Column("Calls"),
        Column(
            "Times as long by system call",
            "each loop by its median hundredth; median over processes or parts",
        ),
        Column("95 %", "bootstrap over processes or parts; – where there are fewer than 6"),
        Column("Over", numeric=False),
        Column("Time that the vDSO saves"),
        Column("Article: times as long"),
        Column("Article: saved", "its “77 % slower”"),
    )
    return Table("The slowdown", columns, rows, explain=True)


def _verdict(loops: Sequence[Row]) -> str:
    calls = _counts(loops)[0]
    interval = slowdown(loops, calls)
    then = " in the article 4.5 times as much."
    if interval is None:
        return f"Too few rounds for an interval;{then}"
    return (
        f"By system call the time of day costs {interval.estimate:.2f} times as much"
        f" [{interval.low:.2f}, {interval.high:.2f}] as through the vDSO here (95 %, over processes"
        f" of {spaced(calls)} calls each);{then}"
    )


def _since(data: Data, loops: Sequence[Row]) -> str:
    calls = _counts(loops)[-1]
    now = {route: _cost(data, loops, calls, route) for route in ("raw", "vdso")}
    vdso, raw = articles.EC2_LOOPS[500_000_000]
    return (
        f"Since the articles: a system call for the time took {raw.real_s / 0.5:.0f} ns on EC2 and"
        f" takes {now['raw']:.0f} ns here, the vDSO {vdso.real_s / 0.5:.1f} ns and"
        f" {now['vdso']:.1f} ns. {SINCE}"
    )


def _cost(data: Data, loops: Sequence[Row], calls: int, route: str) -> float:
    """ns a call: the median over all hundredths."""
    rows = _chosen(loops, calls, route)
    ticks = np.concatenate([np.asarray(row["slice_ticks"]) for row in rows])
    return float(np.median(ticks)) * data.ns_per_tick / float(rows[0]["slice_calls"])


def _plot(data: Data, loops: Sequence[Row]) -> Sheet:
    """Every count and route, and the article's dots beside ours."""
    vdso, raw = articles.EC2_LOOPS[500_000_000]
    then = {"vdso": vdso.real_s / 0.5, "raw": raw.real_s / 0.5}
    rows = []
    for calls in _counts(loops):
        for route, name in ROUTES.items():
            marks = [Mark(0, _cost(data, loops, calls, route))]
            if route in then:
                marks.append(Mark(1, then[route]))
            rows.append(MarkedRow(f"{spaced(calls)} calls, {name}", marks))
    return rows_on_a_scale(
        "The cost of a call by each route",
        "Nanoseconds of a call here, the median over all hundredths of the loops, and in the"
        " article, its longest loop",
        ("here", f"article ({articles.EC2_MACHINE})"),
        rows,
        "ns a call",
        log=True,
    )


def _modes(checks: Sequence[Row]) -> Table:
    ours = {row["route"]: row for row in checks if "route" in row}
    rows = []
    for mode, route in MODES.items():
        then, seen = articles.MORLE_MODES[mode]
        check = ours.get(route)
        share = check["strace_calls"] / check["calls"] if check else None
        micro = check["real_ns"] / check["calls"] / 1e3 if check else None
        rows.append(
            [
                Cell(f"{mode}: {ROUTES[route]}", mode),
                Cell(text.NONE if share is None else f"{share:.0%}"),
                Cell(text.NONE if micro is None else f"{micro:.3f}"),
                Cell(f"{seen / articles.MORLE_CALLS:.0%}"),
                Cell(f"{then.real_s / articles.MORLE_CALLS * 1e6:.3f}"),
            ]
        )
    columns = (
        Column("Mode", numeric=False),
        Column("Calls that strace saw"),
        Column("real under strace, µs a call"),
        Column("Article: strace saw"),
        Column("Article: real, µs a call", "1 million calls in 12.7, 0.052 and 0.043 s"),
    )
    said = next((str(row["refused"]) for row in checks if "refused" in row), "")
    return Table(
        f"Under strace -c, as in {articles.MORLE}" + (f" (not here: {said})" if said else ""),
        columns,
        rows,
    )
