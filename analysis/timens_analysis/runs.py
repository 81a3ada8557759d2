# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs side by side: did a level change, did an effect change, and what holds over many hosts."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from timens_analysis.blocks import differences
from timens_analysis.model import Level, Metric, Run
from timens_analysis.results import Analysis, Options
from timens_analysis.stats import bootstrap
from timens_analysis.stats.describe import Interval, unusable
from timens_analysis.stats.multiple import holm
from timens_analysis.stats.paired import widen
from timens_analysis.stats.pooling import Pooled, random_effects
from timens_analysis.study.host import STABLE

NOT_SIGNIFICANT = "not significant"
Z95 = 1.959964
OF_THE_RUN = ("design", "bench_sha256", "clock_source_of_ticks")


@dataclass(frozen=True, slots=True)
class Unlike:
    """A part of the fingerprint that two runs do not share."""

    key: str
    first: str
    other: str


@dataclass(frozen=True, slots=True)
class Change:
    """One level of one metric in a later run against the first run."""

    metric: str
    level: str
    run: str
    before: float
    after: float
    percent: Interval | None
    p: float
    p_holm: float
    word: str
    over: bool = False  # certainly slower than `--fail-over` allows

    def __str__(self) -> str:
        return f"{self.metric}, {self.level}, {self.run}"


@dataclass(frozen=True, slots=True)
class EffectOverRuns:
    """One effect (level against baseline, percent) in every run, and over all of them."""

    metric: str
    level: str
    effects: tuple[Interval | None, ...]
    difference: Interval | None  # last minus first, in percentage points
    p_holm: float | None  # that they are equal; adjusted over the metrics of one level
    word: str
    pooled: Pooled | None


def unlike(first: Run, other: Run) -> list[Unlike]:
    """What of the fingerprint differs: host, kernel, settings, binary, design."""
    ours, theirs = _fingerprint(first.environment), _fingerprint(other.environment)
    return [
        Unlike(key, str(ours.get(key)), str(theirs.get(key)))
        for key in dict.fromkeys([*ours, *theirs])
        if ours.get(key) != theirs.get(key)
    ]


def changes(runs: Sequence[Run], options: Options, fail_over: float | None) -> list[Change]:
    """Every level of every later run against the first; Holm over the metrics of one level."""
    found: list[Change] = []
    first = {m.name: m for m in runs[0].metrics}
    for run in runs[1:]:
        rows = [
            change
            for metric in run.metrics
            if metric.name in first
            for change in _metric_changes(first[metric.name], metric, run.name, options)
        ]
        for level in dict.fromkeys(row.level for row in rows):
            family = [row for row in rows if row.level == level]
            adjusted = holm([row.p for row in family])
            found += [
                _judge(row, p, options, fail_over) for row, p in zip(family, adjusted, strict=True)
            ]
    return found


def effects(analyses: Sequence[Analysis], options: Options) -> list[EffectOverRuns]:
    """Each level against the baseline of its own run, in every run that has it."""
    rows = [
        _over_runs(analyses, result.metric.name, pair.i, options)
        for result in analyses[0].metrics
        for pair in result.pairs
        if pair.j == result.metric.levels[0].name
    ]
    for level in dict.fromkeys(row.level for row in rows):
        places = [n for n, r in enumerate(rows) if r.level == level and r.p_holm is not None]
        adjusted = holm([rows[n].p_holm or 0.0 for n in places])
        for n, p in zip(places, adjusted, strict=True):
            difference = rows[n].difference
            larger = difference is not None and difference.estimate > 0
            word = ("larger" if larger else "smaller") if p < options.alpha else NOT_SIGNIFICANT
            rows[n] = replace(rows[n], p_holm=p, word=word)
    return rows


def _fingerprint(environment: Mapping[str, Any]) -> dict[str, Any]:
    host = environment.get("host", {})
    whole = {key: host.get(key) for key in STABLE}
    whole |= {key: environment.get(key) for key in OF_THE_RUN}
    whole["scheduler"] = sorted({str(arm.get("scheduler")) for arm in environment["arms"]})
    return dict(_flat(whole))


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _metric_changes(before: Metric, after: Metric, run: str, options: Options) -> Iterator[Change]:
    old = {level.name: level for level in _all_levels(before)}
    rng = np.random.default_rng([options.seed, zlib.crc32(f"{after.name}/{run}".encode())])
    for level in _all_levels(after):
        if level.name in old and _testable(old[level.name]) and _testable(level):
            step = max(before.resolution, after.resolution)
            yield _change(after, old[level.name], level, run, step, options, rng)


def _all_levels(metric: Metric) -> list[Level]:
    return [*metric.levels, *([metric.aa] if metric.aa else [])]


def _testable(level: Level) -> bool:
    """Constant levels may be compared: medians need no variance."""
    reason = unusable(level.values)
    return reason is None or reason.startswith("all ")


def _change(
    metric: Metric,
    before: Level,
    after: Level,
    run: str,
    step: float,
    options: Options,
    rng: np.random.Generator,
) -> Change:
    """Medians, because a few processes in a slow mode must not decide; Mann & Whitney, Annals of
    Mathematical Statistics 18 (1947), 50-60."""
    x, y = after.values + metric.base, before.values + metric.base
    old, new = float(np.median(y)), float(np.median(x))
    same = x.min() == x.max() == y.min() == y.max()
    p = 1.0 if same else float(stats.mannwhitneyu(x, y).pvalue)
    percent = None
    if old > 0 and (y > 0).all():
        ratio = 100 * (bootstrap.medians(x, rng) / bootstrap.medians(y, rng) - 1)
        interval = bootstrap.percentile(
            ratio, 100 * (new / old - 1), options.confidence, min(x.size, y.size)
        )
        percent = widen(interval, 100 * step / old)
    if percent is not None and percent.low == percent.high:
        percent = None  # nobody told the resolution: no width can be given
    return Change(metric.name, after.name, run, old, new, percent, p, p, NOT_SIGNIFICANT)


def _judge(row: Change, p: float, options: Options, fail_over: float | None) -> Change:
    word = NOT_SIGNIFICANT
    if p < options.alpha:
        word = "slower" if row.after > row.before else "faster"
    over = fail_over is not None and row.percent is not None and row.percent.low > fail_over
    return replace(row, p_holm=p, word=word, over=over and word == "slower")


def _over_runs(
    analyses: Sequence[Analysis], metric: str, level: str, options: Options
) -> EffectOverRuns:
    found = [_percent(analysis, metric, level) for analysis in analyses]
    known = [interval for interval in found if interval is not None]
    errors = [(i.high - i.low) / (2 * Z95) for i in known]
    pooled = None
    if len(known) > 1 and all(error > 0 for error in errors):
        pooled = random_effects([i.estimate for i in known], errors, options.confidence)
    first, last = found[0], found[-1]
    if first is None or last is None:
        word = "not in both the first and the last run"
        return EffectOverRuns(metric, level, tuple(found), None, None, word, pooled)
    difference = _difference(first, last, options)
    p = _same_effect(analyses[0], analyses[-1], metric, level)
    return EffectOverRuns(metric, level, tuple(found), difference, p, NOT_SIGNIFICANT, pooled)


def _same_effect(first: Analysis, last: Analysis, metric: str, level: str) -> float | None:
    """Mann-Whitney on what each block (or, without blocks, each process) says of the effect."""
    samples = []
    for analysis in (first, last):
        result = next(r.metric for r in analysis.metrics if r.metric.name == metric)
        host, inside = result.levels[0], next(x for x in result.levels if x.name == level)
        if result.paired:
            found = differences(result, inside, host)
            gaps, y = found.gaps, found.host
        else:
            y = np.full(inside.values.size, np.median(host.values))
            gaps = inside.values - y
        samples.append(gaps / (y + result.base))
    if np.ptp(np.concatenate(samples)) == 0:
        return 1.0
    return float(stats.mannwhitneyu(*samples).pvalue)


def _difference(first: Interval, last: Interval, options: Options) -> Interval:
    """Of two independent estimates: limits by adding the arms of both intervals in quadrature
    (MOVER: Zou & Donner, Statistics in Medicine 27 (2008), 1693-1702)."""
    d = last.estimate - first.estimate
    low = d - float(np.hypot(last.estimate - last.low, first.high - first.estimate))
    high = d + float(np.hypot(last.high - last.estimate, first.estimate - first.low))
    return Interval(low, d, high, options.confidence)


def _percent(analysis: Analysis, metric: str, level: str) -> Interval | None:
    result = next((r for r in analysis.metrics if r.metric.name == metric), None)
    if result is None or not result.metric.levels:
        return None
    baseline = result.metric.levels[0].name
    pair = next((p for p in result.pairs if (p.i, p.j) == (level, baseline)), None)
    return None if pair is None else pair.percent
