# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every test on every metric: model.Metric -> results.MetricResult.

A metric that cannot be tested says why and never hides the others.  What depends on all metrics
together (Holm, verdicts, refusals) is done afterwards, in verdict.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from timens_analysis import blocks, verdict
from timens_analysis.model import Level, Metric, Problem
from timens_analysis.results import (
    Analysis,
    Independent,
    LevelResult,
    MetricResult,
    Options,
    Paired,
    PairResult,
    Verdict,
)
from timens_analysis.stats import describe, effects, omnibus, pairs
from timens_analysis.stats.describe import Summary, Test
from timens_analysis.stats.pairs import Pair


def analyse(
    metrics: Iterable[Metric], options: Options, problems: Sequence[Problem] = ()
) -> Analysis:
    """Run all tests, then judge them together."""
    found = list(problems)
    results = []
    for metric in metrics:
        result, more = analyse_metric(metric, options)
        results.append(result)
        found += more
    return Analysis(options, tuple(verdict.judge(results, options)), tuple(found))


def analyse_metric(metric: Metric, options: Options) -> tuple[MetricResult, list[Problem]]:
    """All that can be said of one metric alone, and what cannot be said and why."""
    problems = [
        Problem(metric.name, level.name, why)
        for level in (*metric.levels, *([metric.aa] if metric.aa else []))
        if (why := describe.unusable(level.values))
    ]
    levels = tuple(_describe(level) for level in metric.levels)
    if len(levels) < 2:
        alone = Problem(metric.name, None, "one level alone has nothing to be compared to")
        return MetricResult(metric, levels), [*problems, alone]
    means = _test_means(metric, options)
    within, more = _test_blocks(metric, options)
    result = _choose_omnibus(
        MetricResult(
            metric,
            levels,
            levene=means.levene,
            anova=means.anova,
            welch=means.welch,
            games_howell=tuple(means.games_howell),
            tukey=tuple(means.tukey),
            friedman=within.friedman,
            friedman_p_holm=within.friedman.p if within.friedman else None,
        ),
        sum(summary.n for summary in means.summaries.values()),
        options,
    )
    result = replace(
        result,
        pairs=tuple(
            _pair(metric, i, j, result, means, within, options)
            for i, j in pairs.order_of_pairs([level.name for level in metric.levels])
        ),
        aa=_aa(metric, within, options),
    )
    return result, problems + more


@dataclass(frozen=True, slots=True)
class _Means:
    """Tests that take the values of a level as independent."""

    summaries: Mapping[str, Summary] = field(default_factory=dict)
    levene: dict[str, Test] = field(default_factory=dict)
    anova: Test | None = None
    welch: Test | None = None
    games_howell: Sequence[Pair] = ()
    tukey: Sequence[Pair] = ()


@dataclass(frozen=True, slots=True)
class _Within:
    """Tests within blocks; empty where there are none or where another method was asked for."""

    friedman: Test | None = None
    pairs: Mapping[tuple[str, str], Paired] = field(default_factory=dict)


def _describe(level: Level) -> LevelResult:
    values = level.values
    if values.size == 0 or not np.isfinite(values).all():
        return LevelResult(level.name, values.size)
    squarable = np.abs(values).max() <= describe.LARGEST
    return LevelResult(
        level.name,
        values.size,
        mean=float(values.mean()),
        sd=describe.summarise(values).sd if values.size > 1 and squarable else None,
        median=float(np.median(values)),
        low=float(values.min()),
        high=float(values.max()),
        shapiro=describe.shapiro(values) if describe.unusable(values) is None else None,
    )


def _test_means(metric: Metric, options: Options) -> _Means:
    usable = {x.name: x.values for x in metric.levels if describe.unusable(x.values) is None}
    if len(usable) < 2:
        return _Means()
    summaries = {name: describe.summarise(values) for name, values in usable.items()}
    groups = list(summaries.values())
    return _Means(
        summaries,
        levene={c: describe.levene(list(usable.values()), c) for c in ("median", "mean")},
        anova=omnibus.anova(groups),
        welch=omnibus.welch(groups),
        games_howell=pairs.games_howell(summaries, options.confidence),
        tukey=pairs.tukey(summaries, options.confidence),
    )


def _test_blocks(metric: Metric, options: Options) -> tuple[_Within, list[Problem]]:
    if not metric.paired or options.method != "auto":
        return _Within(), []
    # Of this metric alone, so that its numbers do not depend on which others were measured.
    rng = np.random.default_rng([options.seed, zlib.crc32(metric.name.encode())])
    levels = {level.name: level for level in metric.levels}
    wanted = [(levels[i], levels[j]) for i, j in pairs.order_of_pairs(list(levels))]
    if metric.aa is not None and metric.aa.blocks is not None:
        wanted.append((metric.aa, metric.levels[0]))
    found: dict[tuple[str, str], Paired] = {}
    problems = []
    for inside, host in wanted:
        outcome = blocks.compare(metric, inside, host, options, rng)
        if isinstance(outcome, Problem):
            problems.append(outcome)
        else:
            found[inside.name, host.name] = outcome
    return _Within(blocks.friedman(metric) if found else None, found), problems


def _choose_omnibus(result: MetricResult, total: int, options: Options) -> MetricResult:
    """Which test on means counts.  The paper's gate: Welch where Levene rejects, else ANOVA."""
    if result.welch is None or result.anova is None:
        return result
    test, name, gate = result.welch, "Welch", ""
    if options.method == "paper":
        levene = result.levene[options.levene]
        unequal = levene.p < options.alpha
        name, test = ("Welch", result.welch) if unequal else ("ANOVA", result.anova)
        post_hoc = "Games-Howell" if unequal else "Tukey"
        gate = (
            f"Levene ({options.levene}-centred) p = {levene.p:.3f}: variances"
            f" {'differ' if unequal else 'not shown to differ'}, so {name}"
        )
        gate += f", then {post_hoc}" if test.p < options.alpha else "; not significant, no post hoc"
    return replace(
        result,
        omnibus=name,
        omnibus_p_holm=test.p,
        omega2=omnibus.omega_squared(test, total),
        gate=gate,
    )


def _pair(
    metric: Metric,
    i: str,
    j: str,
    result: MetricResult,
    means: _Means,
    within: _Within,
    options: Options,
) -> PairResult:
    tests = result.tukey if result.omnibus == "ANOVA" else result.games_howell
    test = next((t for t in tests if (t.i, t.j) == (i, j)), None)
    if options.method == "paper" and (result.omnibus_p_holm or 0) >= options.alpha:
        gated = Verdict("no post hoc test", "the omnibus test is not significant")
        return PairResult(i, j, verdict=gated, mean_verdict=gated)
    independent = _independent(metric, test, means.summaries, options) if test else None
    return PairResult(i, j, within.pairs.get((i, j)), independent)


def _aa(metric: Metric, within: _Within, options: Options) -> PairResult | None:
    """The baseline against itself, by the same method as the effects."""
    if metric.aa is None:
        return None
    i, j = metric.aa.name, metric.levels[0].name
    independent = None
    both = (metric.aa, metric.levels[0])
    if all(describe.unusable(level.values) is None for level in both):
        summaries = {level.name: describe.summarise(level.values) for level in reversed(both)}
        test = pairs.games_howell(summaries, options.confidence)[0]
        independent = _independent(metric, test, summaries, options)
    return PairResult(i, j, within.pairs.get((i, j)), independent)


def _independent(
    metric: Metric, test: Pair, summaries: Mapping[str, Summary], options: Options
) -> Independent:
    """Effect sizes of a pair.  Margins are percent of the first level, whichever the pair."""
    inside, host = summaries[test.i], summaries[test.j]
    first = summaries.get(metric.levels[0].name, host)
    whole = first.mean + metric.base
    margin = options.margin_percent / 100 * abs(whole)
    percent = 100 / abs(whole) if whole else None
    alpha = options.alpha
    return Independent(
        test=test,
        p_holm=test.p,
        percent=effects.percent_overhead(
            inside, host, base=metric.base, confidence=options.confidence
        ),
        hedges_g=effects.hedges_g(inside, host, options.confidence),
        tost_p=effects.tost(inside, host, margin),
        equivalent_within_percent=percent
        and percent * effects.smallest_margin(inside, host, alpha),
        detectable_percent=percent and percent * effects.detectable(inside, host, alpha),
    )
