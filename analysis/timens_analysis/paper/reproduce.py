# SPDX-License-Identifier: LGPL-2.1-or-later
"""The paper's effects beside ours, with a verdict and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from timens_analysis import verdict
from timens_analysis.paper.published import PrintedMetric, PrintedPair, table_iv
from timens_analysis.results import MetricResult, Options, PairResult
from timens_analysis.stats.describe import Interval

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
OTHER_SIGN = "different sign"
NOT_COMPARABLE = "cannot be compared"

OUR_NAME = {"vdso_clock_gettimeofday": "vdso_gettimeofday"}  # Table III has our name, Table IV not
OUR_LEVEL = {"baseline": "baseline", "namespace": "timens", "container": "container"}
PAIRS = (("namespace", "baseline"), ("namespace", "container"), ("container", "baseline"))
SLEEPS = ("nanosleep", "clock_nanosleep")
SLEEP_REASON = (
    "a million sleeps of 100 ms are 27.8 hours for one record: the paper's row cannot have been"
    " collected as it is described"
)


@dataclass(frozen=True, slots=True)
class Reproduction:
    metric: str
    i: str
    j: str
    paper_percent: float
    paper_diff: float
    paper_p: str  # as printed; "" where the omnibus test was not significant
    ours: Interval | None  # percent
    our_p: float | None
    verdict: str
    reason: str


def reproduce(results: Sequence[MetricResult], options: Options) -> list[Reproduction]:
    """A row for every metric and pair of Table IV that this run has as well."""
    ours = {result.metric.name: result for result in results}
    rows = []
    for printed in table_iv():
        result = ours.get(OUR_NAME.get(printed.name, printed.name))
        if result is None:
            continue
        for i, j in PAIRS:
            names = {level.name for level in result.metric.levels}
            if {OUR_LEVEL[i], OUR_LEVEL[j]} <= names:
                rows.append(_row(printed, i, j, result, options))
    return rows


def _row(
    printed: PrintedMetric, i: str, j: str, result: MetricResult, options: Options
) -> Reproduction:
    means = {level.name: level.mean.value for level in printed.levels}
    published = printed.pair(i, j)
    diff = means[i] - means[j]
    if published is not None and published.diff is not None:
        diff = published.diff.value  # printed with more digits than the means
    pair = next(p for p in result.pairs if (p.i, p.j) == (OUR_LEVEL[i], OUR_LEVEL[j]))
    word, reason = _judge(printed, published, diff, pair, options)
    interval = pair.percent
    return Reproduction(
        metric=result.metric.name,
        i=pair.i,
        j=pair.j,
        paper_percent=100 * diff / means[j],
        paper_diff=diff,
        paper_p=published.p.text if published is not None and published.p is not None else "",
        ours=interval,
        our_p=verdict.p_value(pair),
        verdict=word,
        reason=reason,
    )


def _judge(
    printed: PrintedMetric,
    published: PrintedPair | None,
    diff: float,
    pair: PairResult,
    options: Options,
) -> tuple[str, str]:
    p = verdict.p_value(pair)
    if printed.name in SLEEPS:
        return NOT_COMPARABLE, SLEEP_REASON
    if p is None:
        return NOT_COMPARABLE, f"ours: {pair.verdict.word}; {pair.verdict.reason}".rstrip("; ")
    if pair.verdict.refused:
        return NOT_COMPARABLE, f"our verdict is refused: {pair.verdict.reason}"
    theirs = published is not None and bool(published.significant)
    ours = p < options.alpha
    if not theirs and not ours:
        return REPRODUCED, "neither finds a difference, which does not show that there is none"
    if not theirs:
        return NOT_REPRODUCED, "significant here, not in the paper"
    if not ours:
        bound = pair.percent
        within = (
            "" if bound is None else f"; here it lies in [{bound.low:+.2f}, {bound.high:+.2f}] %"
        )
        return NOT_REPRODUCED, f"significant in the paper, not here{within}".replace("-", "−")
    if (verdict.difference(pair) > 0) != (diff > 0):
        return OTHER_SIGN, "significant in both, in opposite directions"
    return REPRODUCED, _size(printed, diff, pair)


def _size(printed: PrintedMetric, diff: float, pair: PairResult) -> str:
    """Same sign; is it the same size?"""
    bound = pair.percent
    reference = {OUR_LEVEL[level.name]: level.mean.value for level in printed.levels}[pair.j]
    paper = 100 * diff / reference
    if bound is None:
        return "significant in both, in the same direction"
    if bound.low <= paper <= bound.high:
        return "same direction, and the paper's size lies in our interval"
    relation = "larger" if abs(paper) > abs(bound.estimate) else "smaller"
    return f"same direction; the paper's effect is {relation} than our interval"
