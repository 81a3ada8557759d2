# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do k means differ at all?  From summaries, so that raw data and published tables share one
formula; scipy.stats.f_oneway, which wants raw data and gives no df2, is the oracle in the tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from timens_analysis.stats.describe import Summary, Test


def anova(groups: Sequence[Summary]) -> Test:
    """One-way analysis of variance, equal variances assumed (Fisher 1925)."""
    n, mean, variance = _columns(groups)
    k, total = len(groups), n.sum()
    grand = float(n @ mean / total)
    between = float(n @ (mean - grand) ** 2) / (k - 1)
    within = float((n - 1) @ variance) / (total - k)
    return _f_test(between / within, k - 1, float(total - k))


def welch(groups: Sequence[Summary]) -> Test:
    """One-way analysis of variance without equal variances: Welch, Biometrika 38 (1951), 330."""
    n, mean, variance = _columns(groups)
    k = len(groups)
    weight = n / variance
    grand = float(weight @ mean / weight.sum())
    between = float(weight @ (mean - grand) ** 2) / (k - 1)
    spread = float(((1 - weight / weight.sum()) ** 2 / (n - 1)).sum())
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    return _f_test(f, k - 1, (k**2 - 1) / (3 * spread))


def omega_squared(test: Test, total: int) -> float:
    """Share of the variance that the levels explain, nearly unbiased (Hays 1963; from F as in
    Olejnik & Algina, Psychological Methods 8 (2003)).  Chance can make it negative: then 0."""
    assert test.df1 is not None
    excess = test.df1 * (test.statistic - 1)
    return max(0.0, excess / (excess + total))


def _columns(groups: Sequence[Summary]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.array([g.n for g in groups], dtype=np.float64),
        np.array([g.mean for g in groups]),
        np.array([g.variance for g in groups]),
    )


def _f_test(f: float, df1: float, df2: float) -> Test:
    return Test(f, float(stats.f.sf(f, df1, df2)), df1, df2)
