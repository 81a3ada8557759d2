# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the cost of a container comes from, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from timens_analysis import blocks as paired_blocks
from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab.data import Data
from timens_analysis.lab.plots import Mark, MarkedRow, rows_on_a_scale
from timens_analysis.model import Metric, Problem, Run
from timens_analysis.paper.published import table_iv
from timens_analysis.paper.reproduce import OUR_NAME
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
from timens_analysis.results import Options, Paired

TITLE = "The anatomy of a container's cost"
QUESTION = (
    "A container is several things at once, and each can cost something. Here each is an arm of its"
    " own, in randomised blocks beside the host: a reader may add up the pieces and compare the sum"
    " with the whole. Every number is the median of differences within blocks, with its 95 %"
    " interval; the process is the unit."
)
SINCE = (
    "The paper that founds this study reported one sum, host against container, and traced it with"
    " a tool that itself reads the clock. Piece by piece, the namespace's own part is a few cycles"
    " of each vDSO reading and of each absolute deadline; a filter of system calls and the"
    " accounting of memory, which are not about time at all, cost a multiple of it."
)
ARMS = ("timens", "userns", "container_notime", "container", "container_seccomp")
MEMCG_ROOT, MEMCG_OWN = "memcg_root", "memcg_own"
IN_THE_WHOLE = ("time namespace", "user-namespace accounting", "seccomp filter")
METRICS = (
    "vdso_clock_gettime_monotonic",
    "vdso_clock_gettime_monotonic_coarse",
    "vdso_gettimeofday",
    "clock_gettime_monotonic",
    "clock_gettime_boottime",
    "timer_settime",
    "timer_settime_abs",
    "timerfd_settime",
    "timerfd_settime_abs",
    "timer_create",
    "timer_delete",
    "timerfd_create",
    "getppid",
    "rdtscp",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that costs: which arm has it, which arm differs in nothing else."""

    name: str
    inside: str
    host: str
    metrics: tuple[str, ...]
    why: str


def pieces(memory_arm: str | None) -> tuple[Piece, ...]:
    """`memory_arm` is the arm on the other side of memory accounting, where there could be one."""
    accounted = ("baseline", MEMCG_ROOT) if memory_arm == MEMCG_ROOT else (MEMCG_OWN, "baseline")
    memory = Piece(
        "memory cgroup",
        *accounted,
        ("timer_create", "timerfd_create", "timer_delete", "getppid"),
        "below the root every timer and file is charged to the group",
    )
    return (
        Piece(
            "vDSO page path",
            "timens",
            "baseline",
            (
                "vdso_clock_gettime_monotonic",
                "vdso_clock_gettime_monotonic_coarse",
                "vdso_gettimeofday",
            ),
            "the page in front has no time, only offsets: the vDSO goes on to a second one",
        ),
        Piece(
            "system-call path",
            "timens",
            "baseline",
            ("clock_gettime_monotonic", "clock_gettime_boottime"),
            "the kernel adds the offset for everybody, host or not: nothing to pay",
        ),
        Piece(
            "ABSTIME conversion",
            "timens",
            "baseline",
            ("timer_settime_abs", "timerfd_settime_abs", "timer_settime", "timerfd_settime"),
            "a deadline is converted to the host's time; a relative wait (the last two) is not",
        ),
        Piece(
            "user-namespace accounting",
            "userns",
            "baseline",
            ("timer_create", "timer_delete", "getppid"),
            "a pending signal is charged once for each user namespace up to the first",
        ),
        *((memory,) if memory_arm else ()),
        Piece(
            "seccomp filter",
            "container_seccomp",
            "container",
            ("getppid", "clock_gettime_monotonic", "timer_create", "vdso_clock_gettime_monotonic"),
            "every system call passes the filter; the vDSO makes none",
        ),
    )


def wholes(memory_arm: str | None) -> tuple[tuple[str, str, str], ...]:
    """(column, arm, arm it is compared to) of the large table."""
    parts = {piece.inside: (piece.name, piece.inside, piece.host) for piece in pieces(memory_arm)}
    memory = next((p for p in pieces(memory_arm) if p.name == "memory cgroup"), None)
    return (
        ("host again", "baseline_aa", "baseline"),
        ("time namespace", "timens", "baseline"),
        parts["userns"],
        ("all but time", "container_notime", "baseline"),
        *(((memory.name, memory.inside, memory.host),) if memory else ()),
        parts["container_seccomp"],
        ("container with filter", "container_seccomp", "baseline"),
    )


def section(data: Data) -> Section:
    """The pieces, their plot, everything against everything, and the paper beside it."""
    run = data.runs["anatomy"]
    memory_arm = data.about["memory_arm"]
    metrics = {metric.name: metric for metric in run.metrics}
    chosen = pieces(memory_arm)
    blocks: list[Block] = [
        Text(QUESTION),
        Text(f"{run.conduct.blocks_complete} blocks of {len(run.environment['arms'])} arms."),
        _pieces_table(metrics, chosen),
        Figures([_plot(metrics, chosen)]),
        _everything(metrics, wholes(memory_arm)),
        _paper(metrics),
        Items(list(_remarks(run, memory_arm))),
        Text(SINCE),
    ]
    return Section(TITLE, blocks)


def difference(metric: Metric, inside: str, host: str) -> Paired | Problem:
    """Within blocks."""
    levels = {level.name: level for level in metric.levels}
    if metric.aa is not None:
        levels[metric.aa.name] = metric.aa
    rng = np.random.default_rng(0)
    return paired_blocks.compare(metric, levels[inside], levels[host], Options(), rng)


def _found(
    metrics: Mapping[str, Metric], chosen: Sequence[Piece]
) -> Iterator[tuple[Piece, str, Paired | Problem]]:
    for piece in chosen:
        for name in piece.metrics:
            if name in metrics:
                yield piece, name, difference(metrics[name], piece.inside, piece.host)


def _cell(found: Paired | Problem) -> Cell:
    if isinstance(found, Problem):
        return Cell(text.NONE)
    limits = found.median
    moved = limits.low > 0 or limits.high < 0
    return Cell(text.interval(limits), limits.estimate, mark="warn" if moved else "")


def _pieces_table(metrics: Mapping[str, Metric], chosen: Sequence[Piece]) -> Table:
    rows = [
        [
            Cell(piece.name),
            Cell(f"{piece.inside} − {piece.host}"),
            Cell(f"`{name}`"),
            _cell(found),
            Cell(
                text.NONE
                if isinstance(found, Problem) or found.percent is None
                else f"{text.signed(found.percent.estimate, 1)} %"
            ),
            Cell(piece.why),
        ]
        for piece, name, found in _found(metrics, chosen)
    ]
    columns = (
        Column("Piece", numeric=False),
        Column("Arms", numeric=False),
        Column("Metric", numeric=False),
        Column("Difference, ns"),
        Column("of the call"),
        Column("Why", numeric=False),
    )
    return Table("Piece by piece", columns, rows, grouped=2)


def _plot(metrics: Mapping[str, Metric], chosen: Sequence[Piece]) -> Sheet:
    names = [piece.name for piece in chosen]
    rows = [
        MarkedRow(
            metric,
            [
                Mark(
                    names.index(piece.name) + 1,
                    found.percent.estimate,
                    found.percent.low,
                    found.percent.high,
                )
            ],
        )
        for piece, metric, found in _found(metrics, chosen)
        if isinstance(found, Paired) and found.percent is not None
    ]
    return rows_on_a_scale(
        "What each piece adds",
        "Median relative differences with 95 % intervals, in percent of the call",
        ("", *names),
        rows,
        "% of the call",
    )


def _everything(metrics: Mapping[str, Metric], columns_of: Sequence[tuple[str, str, str]]) -> Table:
    rows = []
    for name in METRICS:
        if name in metrics:
            host = metrics[name].levels[0].values
            cells = [Cell(f"`{name}`"), Cell(f"{np.median(host):.2f}", float(np.median(host)))]
            found = [difference(metrics[name], a, b) for _, a, b in columns_of]
            rows.append([*cells, *map(_cell, found), _sum(found, columns_of)])
    columns = (
        Column("Metric", numeric=False),
        Column("Host, ns"),
        *(Column(title, f"{a} − {b}, ns") for title, a, b in columns_of),
        Column("Sum of the pieces in it", f"{', '.join(IN_THE_WHOLE)}: to compare with the whole"),
    )
    return Table("Every metric with every piece, ns", columns, rows, explain=True)


def _sum(found: Sequence[Paired | Problem], columns_of: Sequence[tuple[str, str, str]]) -> Cell:
    """Of the pieces that the container with a filter is made of."""
    parts = [f for f, (title, _, _) in zip(found, columns_of, strict=True) if title in IN_THE_WHOLE]
    total = sum(part.median.estimate for part in parts if isinstance(part, Paired))
    return Cell(text.signed(total, 2), total)


def _paper(metrics: Mapping[str, Metric]) -> Table:
    """Container against baseline, as the paper's Table IV has it and as it is here."""
    rows = []
    for printed in table_iv():
        metric = metrics.get(OUR_NAME.get(printed.name, printed.name))
        if metric is None:
            continue
        means = {level.name: level.mean.value for level in printed.levels}
        theirs = 100 * (means["container"] / means["baseline"] - 1)
        ours = difference(metric, "container", "baseline")
        percent = None if isinstance(ours, Problem) else ours.percent
        rows.append(
            [
                Cell(f"`{printed.name}`"),
                Cell(f"{text.signed(theirs, 2)} %", theirs),
                Cell(text.interval(percent, unit=" %") if percent else text.NONE),
            ]
        )
    columns = (
        Column("Metric", numeric=False),
        Column("Paper: container over host", "means of its Table IV"),
        Column("Here, without a filter", "median of relative differences, 95 %"),
    )
    return Table("The paper's sum beside ours", columns, rows)


def _remarks(run: Run, memory_arm: str | None) -> Iterator[tuple[str, str]]:
    if memory_arm is None:
        yield (
            "Not here: memory cgroup",
            "only root can move a process to the other side of the accounting.",
        )
    arms = {arm["name"]: arm["namespaces"]["user"] for arm in run.environment["arms"]}
    if arms["timens"] != arms["baseline"]:
        yield (
            "Without root",
            "the time namespace has a user namespace around it, whose accounting it shares.",
        )
    yield (
        "Records",
        "this is a study like any other: `timens-study report` of the folder `anatomy` beside this"
        " page makes all tests of it.",
    )
    yield (
        "Reading",
        "“host again” is the noise: what is no larger cannot be told from nothing."
        " `getppid` and `rdtscp` are there because no namespace can change them.",
    )
