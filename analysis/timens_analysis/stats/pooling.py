# SPDX-License-Identifier: LGPL-2.1-or-later
"""One effect, seen on many hosts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from timens_analysis.stats.describe import Interval


@dataclass(frozen=True, slots=True)
class Pooled:
    """A random-effects summary: hosts are a sample of hosts, each with an effect of its own."""

    mean: Interval  # of the effect over hosts
    next_host: Interval | None  # where the effect of one more host would lie; needs 3 hosts
    tau: float  # SD of the true effects between hosts
    i2: float  # share of the observed variance that is between hosts
    p: float  # that the mean effect is 0
    hosts: int


def random_effects(
    effects: Sequence[float], standard_errors: Sequence[float], confidence: float = 0.95
) -> Pooled:
    """Summarise effects that were measured with different precision.

    Between-host variance by Paule & Mandel (J. Res. NBS 87 (1982), 377-385); limits by Hartung &
    Knapp (Statistics in Medicine 20 (2001), 3875-3889), never narrower than the classical ones;
    prediction interval by Higgins, Thompson & Spiegelhalter (J. R. Stat. Soc. A 172 (2009)).

    Raises
    ------
    ValueError : fewer than two hosts, or a standard error that is not positive
    """
    y = np.asarray(effects, dtype=np.float64)
    v = np.asarray(standard_errors, dtype=np.float64) ** 2
    hosts = y.size
    if hosts < 2:
        raise ValueError("one host cannot say how hosts differ")
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v > 0).all()):
        raise ValueError("every effect needs a finite value and a positive standard error")
    tau2 = _paule_mandel(y, v)
    weight = 1 / (v + tau2)
    mean = float(weight @ y / weight.sum())
    q = float(weight @ (y - mean) ** 2) / (hosts - 1)
    se = math.sqrt(max(1.0, q) / weight.sum())
    t = float(stats.t.ppf(0.5 + confidence / 2, hosts - 1))
    typical = (hosts - 1) * (1 / v).sum() / ((1 / v).sum() ** 2 - (1 / v**2).sum())
    next_host = None
    if hosts > 2:
        half = float(stats.t.ppf(0.5 + confidence / 2, hosts - 2)) * math.sqrt(tau2 + se**2)
        next_host = Interval(mean - half, mean, mean + half, confidence)
    return Pooled(
        Interval(mean - t * se, mean, mean + t * se, confidence),
        next_host,
        math.sqrt(tau2),
        float(tau2 / (tau2 + typical)),
        float(2 * stats.t.sf(abs(mean) / se, hosts - 1)),
        hosts,
    )


def _paule_mandel(y: np.ndarray, v: np.ndarray) -> float:
    """The tau^2 for which the weighted squares about the mean equal their expectation."""

    def excess(tau2: float) -> float:
        weight = 1 / (v + tau2)
        mean = weight @ y / weight.sum()
        return float(weight @ (y - mean) ** 2) - (y.size - 1)

    if excess(0.0) <= 0:
        return 0.0
    high = float(y.var(ddof=1)) + float(v.max())
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high))
