# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bootstrap of a median, without resampling the data.

The median of a resample is decided by which ranks it drew, and ranks do not depend on the data:
the m-th smallest of n draws from {1..n} is the m-th smallest of n uniform numbers, times n.  So
two order statistics are drawn for each resample instead of n values, which is exact (Efron, The
Annals of Statistics 7 (1979), 1-26, section 3; Maritz & Jarrett, JASA 73 (1978), 194-196) and a
hundred times faster than scipy.stats.bootstrap, the oracle in the tests.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from timens_analysis.model import Values
from timens_analysis.stats.describe import Interval

RESAMPLES = 9_999


def medians(values: Values, rng: np.random.Generator, resamples: int = RESAMPLES) -> Values:
    """Medians of `resamples` resamples of the values, drawn with replacement.

    rng is passed in and never made here, so that a report can be reproduced.
    """
    n = values.size
    ordered = np.sort(values)
    middle = (n + 1) // 2
    # The m-th of n uniform order statistics is Beta(m, n - m + 1); given it, the next one is the
    # smallest of the n - m that are left, uniform above it (David & Nagaraja 2003, 2.5).
    u = rng.beta(middle, n - middle + 1, size=resamples)
    lower = ordered[np.minimum((u * n).astype(np.int64), n - 1)]
    if n % 2:
        return lower
    left = 1 - rng.random(resamples) ** (1 / (n - middle))
    upper = ordered[np.minimum(((u + (1 - u) * left) * n).astype(np.int64), n - 1)]
    return (lower + upper) / 2


def percentile(distribution: Values, estimate: float, confidence: float, n: int) -> Interval:
    """Percentile interval of a statistic of n values, expanded for small n.

    Plain percentiles (Efron & Tibshirani, An Introduction to the Bootstrap (1993), ch. 13) are too
    narrow by sqrt((n - 1) / n) and use the normal's quantile where Student's belongs; Hesterberg,
    The American Statistician 69 (2015), 371-386, moves them out by both.  Not BCa: its
    acceleration comes from the jackknife, which fails for the median (Efron & Tibshirani, 10.6).
    """
    reach = stats.t.ppf(0.5 + confidence / 2, n - 1) * np.sqrt(n / (n - 1))
    tail = float(stats.norm.sf(reach))
    low, high = np.quantile(distribution, [tail, 1 - tail])
    return Interval(float(low), estimate, float(high), confidence)
