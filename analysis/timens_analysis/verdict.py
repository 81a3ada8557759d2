# SPDX-License-Identifier: LGPL-2.1-or-later
"""What may be said, once every metric has been tested: Holm, verdicts, and when they are refused.

"Not significant" is never written as "no difference": without a proof of equivalence the word is
"inconclusive".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from timens_analysis.results import (
    REFUSED,
    Independent,
    MetricResult,
    Options,
    Paired,
    PairResult,
    Verdict,
)
from timens_analysis.stats.multiple import holm

Contrast = tuple[str, str]


def judge(results: Sequence[MetricResult], options: Options) -> list[MetricResult]:
    """Adjust p values over the metrics, then give or refuse a verdict for every pair."""
    results = _adjust(results)
    least = refusal_alpha(results, options)
    moved = _moved_controls(results, least)
    return [
        replace(
            result,
            pairs=tuple(
                _with_verdicts(pair, options, _refusal(result, pair, moved, least))
                for pair in result.pairs
            ),
            aa=result.aa and _with_verdicts(result.aa, options, None),
        )
        for result in results
    ]


def refusal_alpha(results: Sequence[MetricResult], options: Options) -> float:
    """The level of one guard, so that all guards of a study together refuse a sound one no more
    often than alpha (Bonferroni; docs/decisions/0451-refusals.md)."""
    guards = {
        pair.i
        for result in results
        if result.metric.control == "negative"
        for pair in result.pairs
        if pair.j == result.metric.levels[0].name
    }
    return options.alpha / max(1, len(guards) + any(result.aa for result in results))


def p_value(pair: PairResult) -> float | None:
    """The Holm-adjusted p that decides: paired where there are pairs."""
    if pair.paired is not None:
        return pair.paired.p_holm
    return pair.independent.p_holm if pair.independent is not None else None


def difference(pair: PairResult) -> float:
    """The effect that goes with `p_value`, in the unit of the metric; 0 where nothing is known."""
    if pair.paired is not None:
        return pair.paired.median.estimate
    return pair.independent.test.diff if pair.independent is not None else 0.0


def _with_verdicts(pair: PairResult, options: Options, refusal: Verdict | None) -> PairResult:
    by_means = pair.mean_verdict
    if pair.independent is not None:
        by_means = refusal or _by_means(pair.independent, options)
    counts = by_means if pair.independent is not None else pair.verdict
    if pair.paired is not None:
        counts = refusal or _by_blocks(pair.paired, options)
    return replace(pair, verdict=counts, mean_verdict=by_means)


def _by_blocks(paired: Paired, options: Options) -> Verdict:
    inside, margin = paired.percent_tost, options.margin_percent
    equivalent = inside is not None and -margin < inside.low and inside.high < margin
    return _word(paired.p_holm, paired.median.estimate, equivalent, options)


def _by_means(independent: Independent, options: Options) -> Verdict:
    equivalent = independent.tost_p < options.alpha
    return _word(independent.p_holm, independent.test.diff, equivalent, options)


def _word(p: float, effect: float, equivalent: bool, options: Options) -> Verdict:
    """Significance and equivalence, which are two questions, in one word."""
    margin = f"±{options.margin_percent:g} %"
    if p < options.alpha:
        if equivalent:
            return Verdict(f"different, but within {margin}")
        # A median of exactly 0 can go with a small p: most blocks tie, the rest agree in sign.
        return Verdict("slower" if effect > 0 else "faster" if effect < 0 else "different")
    return Verdict(f"equivalent within {margin}" if equivalent else "inconclusive")


def _refusal(
    result: MetricResult, pair: PairResult, moved: Mapping[str, str], least: float
) -> Verdict | None:
    aa_p = p_value(result.aa) if result.aa else None
    if aa_p is not None and aa_p < least:
        return Verdict(REFUSED, f"the baseline differs from itself (A/A, Holm p = {aa_p:.2g})")
    return next((Verdict(REFUSED, moved[arm]) for arm in (pair.i, pair.j) if arm in moved), None)


def _moved_controls(results: Sequence[MetricResult], least: float) -> dict[str, str]:
    """Arms in which a negative control differs from the baseline, and what to say of it."""
    moved: dict[str, str] = {}
    for result in results:
        if result.metric.control != "negative":
            continue
        baseline = result.metric.levels[0].name
        for pair in result.pairs:
            p = p_value(pair)
            if pair.j != baseline or pair.i in result.metric.control_not_in:
                continue
            if p is not None and p < least:
                text = f"negative control {result.metric.name} moved in {pair.i} (Holm p = {p:.2g})"
                moved.setdefault(pair.i, text)
    return moved


def _adjust(results: Sequence[MetricResult]) -> list[MetricResult]:
    """Holm over the metrics: one family for the omnibus tests, one for each pair of levels and
    kind of test, one for A/A."""
    omnibus = _holm({i: r.omnibus_p_holm for i, r in enumerate(results)})
    friedman = _holm({i: r.friedman_p_holm for i, r in enumerate(results)})
    families: dict[tuple[str, Contrast], dict[int, float]] = defaultdict(dict)
    for place, result in enumerate(results):
        for pair in _all_pairs(result):
            if pair.paired is not None:
                families["paired", (pair.i, pair.j)][place] = pair.paired.wilcoxon.p
            if pair.independent is not None:
                families["independent", (pair.i, pair.j)][place] = pair.independent.test.p
    adjusted = {family: _holm(members) for family, members in families.items()}

    def with_holm(place: int, pair: PairResult) -> PairResult:
        contrast = (pair.i, pair.j)
        return replace(
            pair,
            paired=pair.paired and replace(pair.paired, p_holm=adjusted["paired", contrast][place]),
            independent=pair.independent
            and replace(pair.independent, p_holm=adjusted["independent", contrast][place]),
        )

    return [
        replace(
            result,
            omnibus_p_holm=omnibus.get(place),
            friedman_p_holm=friedman.get(place),
            pairs=tuple(with_holm(place, pair) for pair in result.pairs),
            aa=result.aa and with_holm(place, result.aa),
        )
        for place, result in enumerate(results)
    ]


def _all_pairs(result: MetricResult) -> list[PairResult]:
    return [*result.pairs, *([result.aa] if result.aa else [])]


def _holm(members: Mapping[int, float | None]) -> dict[int, float]:
    known = {place: p for place, p in members.items() if p is not None}
    return dict(zip(known, holm(list(known.values())), strict=True))
