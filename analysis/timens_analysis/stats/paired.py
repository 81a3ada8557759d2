# SPDX-License-Identifier: LGPL-2.1-or-later
"""Levels that were measured side by side in blocks: what is left when the block is taken out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from timens_analysis.model import Values
from timens_analysis.stats.describe import Interval, Test


def friedman(columns: Sequence[Values]) -> Test:
    """Do k levels differ within blocks?  Friedman, JASA 32 (1937), 675-701, as in scipy.

    With two levels, for which scipy refuses, this is the sign test's chi-square form: the same
    formula.  Levels that tie in every block give statistic 0 and p = 1.
    """
    table = np.column_stack(columns)
    k = table.shape[1]
    if bool((table == table[:, :1]).all()):
        return Test(0.0, 1.0, k - 1)
    if k > 2:
        result = stats.friedmanchisquare(*columns)
        return Test(float(result.statistic), float(result.pvalue), k - 1)
    wins = int((table[:, 0] > table[:, 1]).sum())
    losses = int((table[:, 0] < table[:, 1]).sum())
    chi2 = (wins - losses) ** 2 / (wins + losses)
    return Test(chi2, float(stats.chi2.sf(chi2, 1)), 1)


def wilcoxon(differences: Values) -> Test:
    """Is the middle of the differences 0?  Wilcoxon, Biometrics Bulletin 1 (1945), 80-83.

    Differences of exactly 0 carry no sign and are left out, as Wilcoxon did; when nothing is left
    there is no evidence of a difference and p = 1.  They are left out before scipy chooses between
    the exact distribution and the normal approximation: of 72 differences of which 5 are not 0,
    the approximation calls 5 equal signs p = 0.04, the exact answer is 2 / 2^5 = 0.06.
    """
    signed = differences[differences != 0]
    if not signed.size:
        return Test(0.0, 1.0)
    result = stats.wilcoxon(signed)
    return Test(float(result.statistic), float(result.pvalue))


def widen(interval: Interval, step: float) -> Interval:
    """No narrower than one step of the counter to either side: a reading is not more exact."""
    return Interval(
        min(interval.low, interval.estimate - step),
        interval.estimate,
        max(interval.high, interval.estimate + step),
        interval.confidence,
    )
