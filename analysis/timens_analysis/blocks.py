# SPDX-License-Identifier: LGPL-2.1-or-later
"""Levels compared within blocks: the default analysis of a study in randomised blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timens_analysis.model import Level, Metric, Problem, Values
from timens_analysis.results import Options, Paired
from timens_analysis.stats import bootstrap, paired
from timens_analysis.stats.describe import Interval, Test

FEWEST_BLOCKS = 6  # with 5, no Wilcoxon p can fall under 0.05: 2 / 2^5 = 0.06
POWER_Z = 1.959964 + 0.841621  # two-sided 5 %, 80 %


def complete_blocks(levels: list[Level]) -> list[Values]:
    """The values of the blocks that every one of these levels has, in the same order."""
    assert all(level.blocks is not None for level in levels)
    tables = [
        dict(zip(level.blocks.tolist(), level.values, strict=True))  # type: ignore[union-attr]
        for level in levels
    ]
    common = sorted(set.intersection(*(set(table) for table in tables)))
    return [np.array([table[block] for block in common]) for table in tables]


@dataclass(frozen=True, slots=True)
class Gaps:
    """inside - host in the blocks that have both, with the host's value there: shape (n,) each."""

    blocks: list[int]
    gaps: Values
    host: Values


def differences(metric: Metric, inside: Level, host: Level) -> Gaps:
    """Between neighbours in time where the workers took turns in every one of these blocks, else
    between the values of the two processes."""
    x, y = complete_blocks([inside, host])
    assert inside.blocks is not None
    assert host.blocks is not None
    common = sorted(set(inside.blocks.tolist()) & set(host.blocks.tolist()))
    for names, sign in (((inside.name, host.name), 1.0), ((host.name, inside.name), -1.0)):
        near = metric.neighbours.get(names, {})
        if common and near.keys() >= set(common):
            return Gaps(common, sign * np.array([near[block] for block in common]), y)
    return Gaps(common, x - y, y)


def friedman(metric: Metric) -> Test | None:
    """Over all levels of the metric that are whole; None when too few blocks are complete."""
    levels = [level for level in metric.levels if np.isfinite(level.values).all()]
    columns = complete_blocks(levels) if len(levels) > 1 else []
    if not columns or columns[0].size < FEWEST_BLOCKS:
        return None
    return paired.friedman(columns)


def compare(
    metric: Metric, inside: Level, host: Level, options: Options, rng: np.random.Generator
) -> Paired | Problem:
    """Differences inside - host within blocks, or why there are none."""
    pair = f"{inside.name} - {host.name}"
    for level in (inside, host):
        if not np.isfinite(level.values).all():
            return Problem(metric.name, pair, f"{level.name} holds values that are not finite")
    found = differences(metric, inside, host)
    gaps, y = found.gaps, found.host
    if gaps.size < FEWEST_BLOCKS:
        text = (
            f"{gaps.size} blocks have both; at least {FEWEST_BLOCKS} are needed for a paired test"
        )
        return Problem(metric.name, pair, text)
    step = metric.resolution or _smallest_gap(*complete_blocks([inside, host]))
    if gaps.max() == gaps.min() and step == 0:
        text = f"every block differs by exactly {gaps[0]:.12g}: no interval has a width"
        return Problem(metric.name, pair, text)
    wilcoxon = paired.wilcoxon(gaps)
    distribution = bootstrap.medians(gaps, rng)
    estimate = float(np.median(gaps))
    percent, percent_tost = _percent(gaps, y + metric.base, step, options, rng)
    whole = float(np.median(y)) + metric.base
    noise = max(float(distribution.std(ddof=1)), step / 2)
    return Paired(
        blocks=gaps.size,
        median=paired.widen(
            bootstrap.percentile(distribution, estimate, options.confidence, gaps.size), step
        ),
        percent=percent,
        percent_tost=percent_tost,
        wilcoxon=wilcoxon,
        p_holm=wilcoxon.p,
        detectable_percent=100 * POWER_Z * noise / whole if whole > 0 else None,
    )


def _percent(
    gaps: Values, y: Values, step: float, options: Options, rng: np.random.Generator
) -> tuple[Interval | None, Interval | None]:
    """Median of the relative differences with both of its intervals; None where a host value is
    not positive, so that no ratio has a meaning."""
    if not (y > 0).all():
        return None, None
    ratios = 100 * gaps / y
    distribution, estimate = bootstrap.medians(ratios, rng), float(np.median(ratios))
    relative_step = 100 * step / float(np.median(y))
    wide, narrow = (
        paired.widen(
            bootstrap.percentile(distribution, estimate, confidence, y.size), relative_step
        )
        for confidence in (options.confidence, 1 - 2 * options.alpha)
    )
    return wide, narrow


def _smallest_gap(x: Values, y: Values) -> float:
    """Where nobody told the resolution: the smallest step between any two values, or 0."""
    gaps = np.diff(np.unique(np.concatenate([x, y])))
    return float(gaps.min()) if gaps.size else 0.0
