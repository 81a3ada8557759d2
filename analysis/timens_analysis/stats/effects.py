# SPDX-License-Identifier: LGPL-2.1-or-later
"""How large a difference is, how small it is shown to be, and what could have been seen.

Independent samples with unequal variances throughout: Welch's standard error and df of a pair.
"""

from __future__ import annotations

import math

from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaln, nctdtr

from timens_analysis.stats.describe import Interval, Summary
from timens_analysis.stats.pairs import welch_se


def percent_overhead(
    inside: Summary, host: Summary, *, base: float = 0.0, confidence: float = 0.95
) -> Interval | None:
    """100 (mean(inside) / mean(host) - 1), both means plus `base`.

    Limits by Fieller's theorem (J. R. Stat. Soc. B 16 (1954), 175-185) with Welch's df.  None if
    the host's mean is not clearly different from 0: then no finite interval exists.
    """
    _, df = welch_se(inside, host)
    t = float(stats.t.ppf(0.5 + confidence / 2, df))
    x, y = inside.mean + base, host.mean + base
    vx, vy = inside.variance / inside.n, host.variance / host.n
    g = t**2 * vy / y**2 if y else math.inf
    if g >= 1:
        return None
    ratio = x / y
    half = t / abs(y) * math.sqrt(vx * (1 - g) + ratio**2 * vy)
    low, high = (ratio - half) / (1 - g), (ratio + half) / (1 - g)
    return Interval(100 * (low - 1), 100 * (ratio - 1), 100 * (high - 1), confidence)


def hedges_g(a: Summary, b: Summary, confidence: float = 0.95) -> Interval:
    """(mean(a) - mean(b)) in pooled SDs, without the bias of small samples.

    Hedges, Journal of Educational Statistics 6 (1981), 107-128, with the exact factor J; limits
    from the noncentral t (Steiger & Fouladi 1997), by the normal approximation (ibid.) where the
    noncentral t cannot be computed.
    """
    df = a.n + b.n - 2
    pooled = math.sqrt(((a.n - 1) * a.variance + (b.n - 1) * b.variance) / df)
    size = math.sqrt(1 / a.n + 1 / b.n)
    j = math.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    d = (a.mean - b.mean) / pooled
    tail = (1 - confidence) / 2
    try:
        low = size * _noncentrality(d / size, df, 1 - tail)
        high = size * _noncentrality(d / size, df, tail)
    except ValueError:
        half = float(stats.norm.isf(tail)) * math.sqrt(size**2 + d**2 / (2 * df))
        low, high = d - half, d + half
    return Interval(j * low, j * d, j * high, confidence)


def _noncentrality(t: float, df: float, probability: float) -> float:
    """The delta for which the noncentral t lies below t with this probability."""
    reach = 10 + 0.5 * abs(t)
    return float(brentq(lambda nc: nctdtr(df, nc, t) - probability, t - reach, t + reach))


def tost(a: Summary, b: Summary, margin: float) -> float:
    """p of equivalence: two one-sided Welch tests against -margin and +margin (Schuirmann,
    J. Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680).  Small p: |a - b| < margin."""
    se, df = welch_se(a, b)
    nearer = margin - abs(a.mean - b.mean)
    return float(stats.t.sf(nearer / se, df))


def smallest_margin(a: Summary, b: Summary, alpha: float = 0.05) -> float:
    """The smallest margin for which `tost` gives p <= alpha."""
    se, df = welch_se(a, b)
    return abs(a.mean - b.mean) + float(stats.t.isf(alpha, df)) * se


def detectable(a: Summary, b: Summary, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that a two-sided test finds with this power (Bloom,
    Evaluation Review 19 (1995), 547-556)."""
    se, df = welch_se(a, b)
    return (float(stats.t.isf(alpha / 2, df)) + float(stats.t.ppf(power, df))) * se
