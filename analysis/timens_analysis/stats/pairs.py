# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which of k means differ: every pair, with an interval that holds for all pairs together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from timens_analysis.stats import studentized_range
from timens_analysis.stats.describe import Summary


@dataclass(frozen=True, slots=True)
class Pair:
    """mean(i) - mean(j), with its simultaneous confidence limits."""

    i: str
    j: str
    diff: float
    se: float
    df: float
    p: float
    low: float
    high: float


def order_of_pairs(levels: list[str]) -> list[tuple[str, str]]:
    """As in the paper's Table IV: each level against the first, then against those after it."""
    first, *others = levels
    pairs = []
    for place, level in enumerate(others):
        pairs.append((level, first))
        pairs += [(level, later) for later in others[place + 1 :]]
    return pairs


def games_howell(groups: Mapping[str, Summary], confidence: float = 0.95) -> list[Pair]:
    """No equal variances assumed: Games & Howell, Journal of Educational Statistics 1 (1976),
    113-125, with Welch-Satterthwaite degrees of freedom of each pair."""
    return [
        _compare(i, j, groups, *welch_se(groups[i], groups[j]), confidence)
        for i, j in order_of_pairs(list(groups))
    ]


def tukey(groups: Mapping[str, Summary], confidence: float = 0.95) -> list[Pair]:
    """Equal variances assumed: Tukey's HSD; for unequal n Kramer, Biometrics 12 (1956), 307."""
    df = sum(g.n for g in groups.values()) - len(groups)
    within = sum((g.n - 1) * g.variance for g in groups.values()) / df
    return [
        _compare(
            i, j, groups, math.sqrt(within * (1 / groups[i].n + 1 / groups[j].n)), df, confidence
        )
        for i, j in order_of_pairs(list(groups))
    ]


def welch_se(a: Summary, b: Summary) -> tuple[float, float]:
    """Standard error of mean(a) - mean(b) and its degrees of freedom.

    Satterthwaite, Biometrics Bulletin 2 (1946), 110; Welch, Biometrika 34 (1947), 28.
    """
    va, vb = a.variance / a.n, b.variance / b.n
    df = (va + vb) ** 2 / (va**2 / (a.n - 1) + vb**2 / (b.n - 1))
    return math.sqrt(va + vb), df


def _compare(
    i: str, j: str, groups: Mapping[str, Summary], se: float, df: float, confidence: float
) -> Pair:
    k = len(groups)
    diff = groups[i].mean - groups[j].mean
    # The studentized range is the largest difference over the SE of ONE mean: hence sqrt(2).
    q = abs(diff) / se * math.sqrt(2)
    half = studentized_range.quantile(1 - confidence, k, df) * se / math.sqrt(2)
    p = studentized_range.survival(q, k, df)
    return Pair(i, j, diff, se, df, p, diff - half, diff + half)
