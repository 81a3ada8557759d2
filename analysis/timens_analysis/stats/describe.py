# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a sample looks like, and whether it meets the assumptions of a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from timens_analysis.model import Values

FEWEST = 3  # Shapiro-Wilk needs 3, and Levene on 2 records always sees equal deviations
LARGEST = 1e120  # squares, and sums of them over n^2, stay in double precision


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the tests on means need, so that a published table can be tested as well."""

    n: int
    mean: float
    sd: float

    @property
    def variance(self) -> float:
        return self.sd**2


@dataclass(frozen=True, slots=True)
class Test:
    """A test statistic with its degrees of freedom, where it has some, and its p value."""

    statistic: float
    p: float
    df1: float | None = None
    df2: float | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate between two confidence limits."""

    low: float
    estimate: float
    high: float
    confidence: float = 0.95


def summarise(values: Values) -> Summary:
    """Mean and sample standard deviation (n - 1), in two passes and in double precision.

    The one-pass formula, sum(x^2) - n mean^2, loses every digit for values like 1e8 +- 1
    (Chan, Golub & LeVeque, The American Statistician 37 (1983), 242-247).
    """
    wide = np.asarray(values, dtype=np.float64)
    return Summary(wide.size, float(wide.mean()), float(wide.std(ddof=1)))


def unusable(values: Values) -> str | None:
    """Why no test may be run on this sample, or None.

    A constant sample is looked for by max == min: its computed variance need not be 0, and fifty
    copies of 0.1 give a plausible F.
    """
    n = values.size
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        first = int(bad[0])
        return (
            f"{bad.size} of {n} values are not finite numbers (the first is value {first + 1},"
            f" {values[first]}); a value is never dropped silently, so the level is left out"
        )
    if n < FEWEST:
        return f"{n} record{'s' * (n != 1)}; at least {FEWEST} are needed for a test"
    if values.max() == values.min():
        return (
            f"all {n} values are {values[0]:.12g}: without variance there is no test on means"
            " and no normality"
        )
    if np.abs(values).max() > LARGEST or values.max() - values.min() < 1 / LARGEST:
        return "values so large, or so close together, cannot be squared: choose another unit"
    return None


def shapiro(values: Values) -> Test:
    """Shapiro & Wilk, Biometrika 52 (1965), as in scipy; p is approximate beyond n = 5000."""
    result = stats.shapiro(values)
    return Test(float(result.statistic), float(result.pvalue))


def levene(groups: Sequence[Values], center: Literal["median", "mean"] = "median") -> Test:
    """Equality of variances.  Centred at the median (Brown & Forsythe, JASA 69 (1974)) it keeps
    its level for skewed samples, which times are; at the mean it is Levene's own test (1960)."""
    result = stats.levene(*groups, center=center)
    total = sum(group.size for group in groups)
    return Test(float(result.statistic), float(result.pvalue), len(groups) - 1, total - len(groups))
