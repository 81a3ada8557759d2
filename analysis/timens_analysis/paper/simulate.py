# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often sound statistics call equal levels different when the design is unsound.

Welch's ANOVA at 5 %, three levels, nothing to find.  Every function returns the share of runs in
which it finds something.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from timens_analysis.model import Values
from timens_analysis.stats import describe, omnibus

LEVELS = 3
RECORDS = 200
ALPHA = 0.05


def drift(rng: np.random.Generator, *, runs: int, drift_sd: float, blocks: bool) -> float:
    """The machine drifts by `drift_sd` standard deviations of a record over the session; levels are
    measured one after another, or interleaved in blocks."""
    total = LEVELS * RECORDS
    session = np.linspace(0.0, drift_sd, total)
    hits = 0
    for _ in range(runs):
        values = rng.normal(size=total) + session
        if blocks:
            order = rng.permuted(np.tile(np.arange(LEVELS), (RECORDS, 1)), axis=1).ravel()
        else:
            order = np.repeat(np.arange(LEVELS), RECORDS)
        hits += _differ([values[order == level] for level in range(LEVELS)])
    return hits / runs


def launches(rng: np.random.Generator, *, runs: int, unit: str) -> float:
    """20 launches of 10 records for each level; a launch has a luck of its own, as large as the
    spread of records.  Tested as 200 independent records, or as 20 launch means."""
    hits = 0
    for _ in range(runs):
        luck = rng.normal(size=(LEVELS, 20, 1))
        records = luck + rng.normal(size=(LEVELS, 20, 10))
        groups = records.reshape(LEVELS, -1) if unit == "record" else records.mean(axis=2)
        hits += _differ(list(groups))
    return hits / runs


def rounded_normality(rng: np.random.Generator, *, runs: int, mean: float, sd: float) -> float:
    """How often Shapiro-Wilk rejects normal records that were rounded to whole nanoseconds."""
    hits = 0
    for _ in range(runs):
        hits += stats.shapiro(np.round(rng.normal(mean, sd, RECORDS))).pvalue < ALPHA
    return hits / runs


def _differ(groups: list[Values]) -> bool:
    return omnibus.welch([describe.summarise(group) for group in groups]).p < ALPHA
