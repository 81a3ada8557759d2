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
ARMS = ("timens", "userns", "seccomp", "container_notime", "container", "container_seccomp")
# The one piece that is smaller than the noise of so few blocks has a study of its own.
MAIN, FINE = "anatomy", "fine"
FINE_ARMS = ("userns",)
FINE_METRICS = ("timer_create", "timer_delete")
MEMCG_ROOT, MEMCG_OWN = "memcg_root", "memcg_own"
IN_THE_WHOLE = ("time namespace", "user-namespace accounting", "seccomp filter")
WHOLES = (
    ("container with filter", "container_seccomp", "baseline"),
    ("container", "container", "baseline"),
    ("all but time", "container_notime", "baseline"),
)
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
    study: str = MAIN


def pieces(memory_arm: str | None, beside: str = "baseline") -> tuple[Piece, ...]:
    """Every piece.

    Parameters
    ----------
    memory_arm : the arm on the other side of memory accounting, where there could be one
    beside : what a namespace or a filter is compared to: `userns` where nobody but root can have
        them without a user namespace around
    """
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
            beside,
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
            beside,
            ("clock_gettime_monotonic", "clock_gettime_boottime"),
            "the kernel adds the offset for everybody, host or not: nothing to pay",
        ),
        Piece(
            "ABSTIME conversion",
            "timens",
            beside,
            ("timer_settime_abs", "timerfd_settime_abs", "timer_settime", "timerfd_settime"),
            "a deadline is converted to the host's time; a relative wait (the last two) is not",
        ),
        Piece(
            "user-namespace accounting",
            "userns",
            "baseline",
            FINE_METRICS,
            "a pending signal is charged once for each user namespace up to the first",
            FINE,
        ),
        *((memory,) if memory_arm else ()),
        Piece(
            "seccomp filter",
            "seccomp",
            beside,
            ("getppid", "clock_gettime_monotonic", "timer_create", "vdso_clock_gettime_monotonic"),
            "every system call passes the filter; the vDSO makes none",
        ),
    )


def parts(memory_arm: str | None, beside: str = "baseline") -> tuple[tuple[str, str, str], ...]:
    """(column, arm, arm it is compared to) of single parts; arguments as for pieces()."""
    chosen = pieces(memory_arm, beside)
    known = {piece.name: (piece.name, piece.inside, piece.host) for piece in chosen}
    return (
        ("host again", "baseline_aa", "baseline"),
        ("time namespace", "timens", beside),
        *(known[name] for name in (*IN_THE_WHOLE[1:], "memory cgroup") if name in known),
    )


def section(data: Data) -> Section:
    """The pieces, their plot, everything against everything, and the paper beside it."""
    run = data.runs[MAIN]
    memory_arm = data.about["memory_arm"]
    beside = "userns" if _needs_user_namespace(run) else "baseline"
    metrics = {metric.name: metric for metric in run.metrics}
    found = list(_found(data, pieces(memory_arm, beside)))
    blocks: list[Block] = [
        Text(QUESTION),
        Text(_sizes(data)),
        _pieces_table(found),
        Items([(each.name, each.why) for each in pieces(memory_arm, beside)]),
        Figures([_plot(found)]),
        _everything(metrics, parts(memory_arm, beside)),
        _sums(metrics, parts(memory_arm, beside)),
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


@dataclass(frozen=True, slots=True)
class _Found:
    """A piece in one metric, and what the host differs by from itself in the same blocks."""

    piece: Piece
    metric: str
    effect: Paired | Problem
    again: Paired | Problem


def _found(data: Data, chosen: Sequence[Piece]) -> Iterator[_Found]:
    for piece in chosen:
        run = data.runs.get(piece.study, data.runs[MAIN])
        metrics = {metric.name: metric for metric in run.metrics}
        for name in piece.metrics:
            if name in metrics:
                yield _Found(
                    piece,
                    name,
                    difference(metrics[name], piece.inside, piece.host),
                    difference(metrics[name], "baseline_aa", "baseline"),
                )


def _needs_user_namespace(run: Run) -> bool:
    """Whether the time namespace has a user namespace around it, as for everybody but root."""
    arms = {arm["name"]: arm["namespaces"]["user"] for arm in run.environment["arms"]}
    return bool(arms["timens"] != arms["baseline"])


def _sizes(data: Data) -> str:
    main = data.runs[MAIN]
    said = f"{main.conduct.blocks_complete} blocks of {len(main.environment['arms'])} arms."
    if FINE in data.runs:
        said += (
            " What a user namespace adds is less than the noise of so few: it has"
            f" {data.runs[FINE].conduct.blocks_complete} blocks of its own."
        )
    return said


def _cell(found: Paired | Problem) -> Cell:
    if isinstance(found, Problem):
        return Cell(text.NONE)
    limits = found.median
    moved = limits.low > 0 or limits.high < 0
    return Cell(text.interval(limits), limits.estimate, mark="warn" if moved else "")


def _pieces_table(found: Sequence[_Found]) -> Table:
    rows = [
        [
            Cell(each.piece.name),
            Cell(f"{each.piece.inside} − {each.piece.host}"),
            Cell(f"`{each.metric}`"),
            _cell(each.effect),
            Cell(
                text.NONE
                if isinstance(each.effect, Problem) or each.effect.percent is None
                else f"{text.signed(each.effect.percent.estimate, 1)} %"
            ),
            _cell(each.again),
        ]
        for each in found
    ]
    columns = (
        Column("Piece", numeric=False),
        Column("Arms", numeric=False),
        Column("Metric", numeric=False),
        Column("Difference, ns"),
        Column("of the call"),
        Column("Host again, ns", "the host against itself in the same blocks: the noise"),
    )
    return Table("Piece by piece", columns, rows, grouped=2)


def _plot(found: Sequence[_Found]) -> Sheet:
    names = list(dict.fromkeys(each.piece.name for each in found))
    rows = [
        MarkedRow(
            each.metric,
            [
                Mark(
                    names.index(each.piece.name) + 1,
                    each.effect.percent.estimate,
                    each.effect.percent.low,
                    each.effect.percent.high,
                )
            ],
        )
        for each in found
        if isinstance(each.effect, Paired) and each.effect.percent is not None
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
            host = float(np.median(metrics[name].levels[0].values))
            found = [difference(metrics[name], a, b) for _, a, b in columns_of]
            rows.append([Cell(f"`{name}`"), Cell(f"{host:.2f}", host), *map(_cell, found)])
    columns = (
        Column("Metric", numeric=False),
        Column("Host, ns"),
        *(Column(title, f"{a} − {b}, ns") for title, a, b in columns_of),
    )
    return Table("Every metric with every piece, ns", columns, rows, explain=True)


def _sums(metrics: Mapping[str, Metric], columns_of: Sequence[tuple[str, str, str]]) -> Table:
    """The pieces that a container with a filter is made of, added up, beside that container."""
    rows = []
    for name in METRICS:
        if name in metrics:
            single = [
                difference(metrics[name], inside, host)
                for title, inside, host in columns_of
                if title in IN_THE_WHOLE
            ]
            total = sum(part.median.estimate for part in single if isinstance(part, Paired))
            whole = [difference(metrics[name], a, b) for _, a, b in WHOLES]
            rows.append([Cell(f"`{name}`"), Cell(text.signed(total, 2), total), *map(_cell, whole)])
    columns = (
        Column("Metric", numeric=False),
        Column("Sum of the pieces", ", ".join(IN_THE_WHOLE)),
        *(Column(title, f"{a} − {b}, ns") for title, a, b in WHOLES),
    )
    return Table("The sum of the pieces and the whole, ns", columns, rows, explain=True)


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
    if _needs_user_namespace(run):
        yield (
            "Without root",
            "the time namespace and the filter have a user namespace around them: they are compared"
            " with a user namespace alone.",
        )
    yield (
        "Records",
        "these are studies like any other: `timens-study report` of the folders `anatomy` and"
        " `anatomy-fine` beside this page makes all tests of them.",
    )
    yield (
        "Reading",
        "“host again” is the noise: what is no larger cannot be told from nothing."
        " `getppid` and `rdtscp` are there because no namespace can change them.",
    )
