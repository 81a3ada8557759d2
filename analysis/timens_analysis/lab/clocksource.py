# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every clock costs with each clock source, and what a time namespace adds to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from timens_analysis import blocks as paired_blocks
from timens_analysis import text
from timens_analysis.figures.sheet import Sheet
from timens_analysis.lab.data import Data, clock_source
from timens_analysis.lab.plots import Mark, MarkedRow, rows_on_a_scale
from timens_analysis.model import Metric, Problem, Run
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

TITLE = "Clock sources"
QUESTION = (
    "Every clock of the kernel is read from one counter, the clock source. The first article is"
    " about one, xen, that could not be read in user space; it warned against switching to tsc."
    " Here each source that the kernel offers is chosen in turn, every clock is timed on the host"
    " and in a time namespace, in randomised blocks, and the first source is put back."
)
METRICS = (
    "vdso_clock_gettime_monotonic",
    "vdso_clock_gettime_boottime",
    "vdso_clock_gettime_realtime",
    "vdso_clock_gettime_tai",
    "vdso_clock_gettime_monotonic_raw",
    "vdso_clock_gettime_monotonic_coarse",
    "vdso_clock_gettime_realtime_coarse",
    "vdso_gettimeofday",
    "vdso_time",
    "vdso_clock_getres",
    "clock_gettime_monotonic",
    "clock_gettime_boottime",
    "clock_gettime_realtime",
    "clock_gettime_tai",
    "clock_gettime_monotonic_raw",
    "clock_gettime_monotonic_coarse",
    "clock_gettime_realtime_coarse",
    "clock_gettime_process_cputime",
    "clock_gettime_thread_cputime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getppid",
    "rdtscp",
)
# Those that people meet, and whether the vDSO of today's kernel can read them.
SOURCES = {
    "tsc": "the processor's counter; read in user space",
    "kvm-clock": "KVM's page of scale factors for the counter; read in user space",
    "xen": "Xen's page, of the same form; read in user space since the article",
    "hyperv_clocksource_tsc_page": "Hyper-V's page; read in user space",
    "hpet": "a chip behind memory; in user space at the article's time, by system call today",
    "acpi_pm": "a chip behind an I/O port; always by system call",
    "arch_sys_counter": "the counter of arm64; read in user space",
}
SINCE = (
    "Since the article: xen can be read in user space, EC2 has moved on from Xen, and a switch of"
    " the source is no longer a gamble where the kernel itself offers tsc. What remains true is"
    " that a source without a vDSO turns every reading of the time into a system call."
)


def section(data: Data | None, host: Mapping[str, object]) -> Section:
    """With no data: what would have been done, and what this machine could show."""
    available = _available(host)
    missing = [(name, about) for name, about in SOURCES.items() if name not in available]
    cannot: list[Block] = [
        Text("This machine does not have, and so cannot show:"),
        Items(missing),
    ]
    if data is None or not data.runs:
        said = (
            f"Not done: it switches the clock of the whole host. This kernel offers"
            f" {', '.join(f'`{name}`' for name in available) or 'none that can be chosen'}; ask"
            " with `--switch-clock-source`, or `make lab CLOCKSOURCE=1`."
        )
        return Section(TITLE, [Text(QUESTION), Text(said), *cannot, Text(SINCE)])
    found = {name: dict(_effects(run)) for name, run in data.runs.items()}
    blocks: list[Block] = [
        Text(QUESTION),
        Text(_verdict(found, clock_source(data.host))),
        _table(found),
        Figures([_plot(found)]),
        *cannot,
        Text(SINCE),
    ]
    return Section(TITLE, blocks)


def warning(current: str, available: Sequence[str]) -> str:
    """What is about to happen to everybody on this host."""
    others = [name for name in available if name != current]
    if not others:
        return f"clocksource: {current} is the only one here; nothing is switched"
    return (
        f"clocksource: this switches the clock of the WHOLE HOST from {current} to"
        f" {', '.join(others)} for some seconds each: every program reads the time more slowly or"
        f" faster meanwhile. {current} is put back at the end, and also when this is interrupted or"
        " killed."
    )


def _available(host: Mapping[str, object]) -> list[str]:
    source = host["clocksource"]
    assert isinstance(source, dict)
    return list(source["available"])


Effect = tuple[float, Paired | Problem]  # ns on the host, and what the time namespace adds


def _effects(run: Run) -> Iterator[tuple[str, Effect]]:
    for metric in run.metrics:
        levels = {level.name: level for level in metric.levels}
        host = levels["baseline"]
        yield (
            metric.name,
            (float(np.median(host.values)), _compare(metric, levels["timens"].name)),
        )


def _compare(metric: Metric, inside: str) -> Paired | Problem:
    levels = {level.name: level for level in metric.levels}
    rng = np.random.default_rng(0)
    return paired_blocks.compare(metric, levels[inside], levels["baseline"], Options(), rng)


def _verdict(found: Mapping[str, Mapping[str, Effect]], first: str) -> str:
    told = []
    for name, effects in found.items():
        vdso, raw = (
            effects[m][0] for m in ("vdso_clock_gettime_monotonic", "clock_gettime_monotonic")
        )
        word = "in user space" if vdso < raw / 2 else "by system call"
        told.append(f"with `{name}` {vdso:.1f} ns ({word})")
    return f"CLOCK_MONOTONIC through the vDSO costs {'; '.join(told)}. `{first}` is in force again."


def _table(found: Mapping[str, Mapping[str, Effect]]) -> Table:
    metrics = list(dict.fromkeys(name for effects in found.values() for name in effects))
    rows = []
    for metric in metrics:
        cells = [Cell(f"`{metric}`", metric)]
        for effects in found.values():
            ns, effect = effects[metric]
            cells.append(Cell(f"{ns:.2f}", ns))
            cells.append(_effect(effect))
        rows.append(cells)
    columns = (
        Column("Reading", numeric=False),
        *(
            column
            for name in found
            for column in (
                Column(f"{name}: host, ns", "median over processes"),
                Column(f"{name}: in a time namespace, ns", "median of differences, 95 %"),
            )
        ),
    )
    return Table("Every clock with each source", columns, rows)


def _effect(effect: Paired | Problem) -> Cell:
    if isinstance(effect, Problem):
        return Cell(text.NONE)
    return Cell(text.interval(effect.median), effect.median.estimate)


def _plot(found: Mapping[str, Mapping[str, Effect]]) -> Sheet:
    sources: Sequence[str] = list(found)
    metrics = list(dict.fromkeys(name for effects in found.values() for name in effects))
    return rows_on_a_scale(
        "The cost of every clock with each clock source",
        "Nanoseconds of a reading on the host; the same numbers are in the table",
        sources,
        [
            MarkedRow(
                metric,
                [Mark(place, found[name][metric][0]) for place, name in enumerate(sources)],
            )
            for metric in metrics
        ],
        "ns a reading",
        log=True,
    )
