# SPDX-License-Identifier: LGPL-2.1-or-later
"""What else the paper's text and Table IV say that does not hold, each derived from the data.

Numbers here are what the paper prints; everything said of them is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timens_analysis.paper import simulate
from timens_analysis.paper.audit import MetricAudit
from timens_analysis.paper.published import PrintedMetric
from timens_analysis.paper.recover import count_whole
from timens_analysis.stats import effects

HEADLINE_PERCENT = 4.0  # "less than 4% in the worst-case scenarios"
CALLS_PER_RECORD, RECORDS, SLEEP_S = 10**6, 200, 0.1
# Of the mean differences of the vDSO clocks, in the text: (clock, low, high) in nanoseconds.
PROSE_RANGES = (("monotonic", "2.83", "3.78"), ("boottime", "3.37", "4.21"))
SEED, RUNS = 20_211_014, 400


@dataclass(frozen=True, slots=True)
class Erratum:
    title: str
    text: str


def headline(audits: Sequence[MetricAudit], limit: float) -> Erratum | None:
    """Which metrics go beyond a claimed worst case.  None where all stay below it."""
    worst = {a.printed.name: _worst(a) for a in audits}
    beyond = {name: w for name, w in worst.items() if abs(w) >= limit}
    if not beyond:
        return None
    rest = [abs(w) for name, w in worst.items() if name not in beyond]
    told = ", ".join(f"{name} {w:+.1f} %" for name, w in beyond.items())
    text = f"beyond {limit:g} %: {told}"
    if rest:
        text += f"; the other {len(rest)} metrics stay below, at most {max(rest):.2f} %"
    return Erratum(f"“less than {limit:g} % in the worst case” does not hold", text)


def of_the_paper(audits: Sequence[MetricAudit]) -> list[Erratum]:
    """The errata that are not single cells."""
    return [
        *filter(None, [headline(audits, HEADLINE_PERCENT)]),
        _whole_nanoseconds(audits),
        _sleeps(audits),
        _prose(audits),
        _design(),
        Erratum(
            "the tracer is slowed by what it measures (inferred, not shown)",
            "uftrace takes its time stamps with clock_gettime inside the traced process, a vDSO"
            " call that a time namespace slows. Part of a difference of a nanosecond or two on"
            " every system call may be the instrument; `timens-study uftrace` shows it with an"
            " empty function.",
        ),
    ]


def _worst(audit: MetricAudit) -> float:
    levels = [level.name for level in audit.printed.levels[1:]]
    return max((audit.overhead(level) for level in levels), key=abs)


def _whole_nanoseconds(audits: Sequence[MetricAudit]) -> Erratum:
    printed: list[PrintedMetric] = [a.printed for a in audits]
    whole = count_whole(printed)
    with_pairs = sum(bool(m.pairs) for m in printed)
    rng = np.random.default_rng(SEED)
    vdso = [a for a in audits if a.printed.name.startswith("vdso_")]
    rejected = [
        simulate.rounded_normality(rng, runs=RUNS // 4, mean=s.mean, sd=s.sd)
        for a in vdso
        for s in a.summaries.values()
    ]
    text = (
        f"in {whole} of the {with_pairs} metrics that print differences, all of them are multiples"
        " of 1/200: the records were whole nanoseconds."
    )
    if rejected:
        text += (
            " Normal samples with the vDSO rows' means and SDs, rounded so, fail Shapiro-Wilk in at"
            f" least {100 * min(rejected):.0f} % of simulated runs: that test says nothing there"
        )
    return Erratum("records were rounded to whole nanoseconds", text)


def _sleeps(audits: Sequence[MetricAudit]) -> Erratum:
    hours = CALLS_PER_RECORD * SLEEP_S / 3600
    days = hours * RECORDS / 24
    seen = []
    for audit in audits:
        if audit.printed.name in ("nanosleep", "clock_nanosleep"):
            groups = list(audit.summaries.values())
            ms = max(effects.detectable(g, groups[0]) for g in groups[1:]) / 1e6
            seen.append(f"{audit.printed.name} {ms:.2f} ms")
    return Erratum(
        "the sleep rows cannot have been collected as described",
        f"a record of a million sleeps of 100 ms takes {hours:.1f} hours, {RECORDS} of them"
        f" {days:.0f} days for each metric and level. What was collected could have shown a"
        f" difference of {', '.join(seen)} (80 % power): no difference below that is excluded",
    )


def _prose(audits: Sequence[MetricAudit]) -> Erratum:
    """Find the cells that the text's ranges come from."""
    told = []
    for clock, low, high in PROSE_RANGES:
        for audit in audits:
            if not audit.printed.name.startswith("vdso_"):
                continue
            lows = {p.low.text for p in audit.printed.pairs if p.low is not None}
            highs = {p.high.text for p in audit.printed.pairs if p.high is not None}
            if low in lows and high in highs:
                told.append(f"{low}-{high} ns, said of {clock}, are limits of {audit.printed.name}")
    return Erratum(
        "the text gives confidence limits as differences, and swaps two clocks",
        "; ".join(told)
        + ". Table II says that clock_getres has no vDSO function; the kernel has had one since"
        " 2019. vdso_gettimeofday of Table III is vdso_clock_gettimeofday in Table IV",
    )


def _design() -> Erratum:
    def rate(share: float) -> str:
        return f"{100 * share:.0f} %"

    rng = np.random.default_rng(SEED)
    sequential = simulate.drift(rng, runs=RUNS, drift_sd=0.3, blocks=False)
    interleaved = simulate.drift(rng, runs=RUNS, drift_sd=0.3, blocks=True)
    records = simulate.launches(rng, runs=RUNS, unit="record")
    processes = simulate.launches(rng, runs=RUNS, unit="launch")
    return Erratum(
        "levels measured one after another are confounded with time",
        f"simulated false alarms of Welch's ANOVA at 5 %, {RUNS} runs each: {rate(sequential)} with"
        " a drift of 0.3 SD over the session when levels follow each other,"
        f" {rate(interleaved)} in randomised blocks; {rate(records)} when 20 launches of 10 records"
        f" count as 200 records and launches vary as much as records, {rate(processes)} when the"
        " launch is the unit",
    )
