# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often a design calls two equal arms different: the A/A false-positive rate of a run.

The run holds replicates of a study of the host against itself.  Every replicate and metric is one
comparison, tested as a real one would be; each "difference" that is found is a false one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from timens_analysis.blocks import differences
from timens_analysis.model import Level, Metric, Run, Values
from timens_analysis.stats.describe import summarise
from timens_analysis.stats.omnibus import welch
from timens_analysis.stats.paired import wilcoxon


@dataclass(frozen=True, slots=True)
class Rate:
    """False positives of one test, with the exact interval of Clopper and Pearson (1934)."""

    test: str
    positives: int
    comparisons: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of all comparisons."""
        return self.positives / self.comparisons


@dataclass(frozen=True, slots=True)
class Phantom:
    """How large the differences between equal arms look: |median difference| in percent."""

    metric: str
    comparisons: int
    median_percent: float
    p95_percent: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `timens-study aa` has to say."""

    design: str
    replicates: int
    blocks: int
    alpha: float
    rates: tuple[Rate, ...]
    phantoms: tuple[Phantom, ...]


def rate(test: str, p_values: list[float], alpha: float) -> Rate:
    """How many are below alpha."""
    positives, n = sum(p < alpha for p in p_values), len(p_values)
    interval = stats.binomtest(positives, n).proportion_ci(method="exact")
    return Rate(test, positives, n, float(interval.low), float(interval.high))


def _part(level: Level, first: int, blocks: int) -> Level:
    """The blocks of one replicate."""
    # Records of the sequential design have no blocks that could be paired, only a number.
    numbers = np.arange(level.values.size) if level.blocks is None else level.blocks
    chosen = (numbers >= first) & (numbers < first + blocks)
    own = None if level.blocks is None else level.blocks[chosen]
    return replace(level, values=level.values[chosen], blocks=own, order=None)


def _halves(metric: Metric, first: int, blocks: int) -> tuple[Level, Level] | None:
    """Baseline and A/A in one replicate; None when a block of it is missing."""
    assert metric.aa is not None
    host, twin = (_part(level, first, blocks) for level in (metric.levels[0], metric.aa))
    return (host, twin) if host.values.size == twin.values.size == blocks else None


def _gaps(metric: Metric, host: Level, twin: Level) -> Values:
    """Differences as a real study would test them."""
    if host.blocks is None or twin.blocks is None:
        return twin.values - host.values
    return differences(metric, twin, host).gaps


def evaluate(run: Run, alpha: float = 0.05) -> Outcome:
    """Tests every replicate of every metric."""
    environment: Mapping[str, Any] = run.environment
    replicates = int(environment.get("replicates", 1))
    blocks = int(environment["blocks"]) // replicates
    p_values: dict[str, list[float]] = {"Wilcoxon, pairs of processes": [], "Welch, processes": []}
    phantoms = []
    for metric in run.metrics:
        percents = []
        for replicate in range(replicates):
            halves = _halves(metric, replicate * blocks, blocks)
            if halves is None:
                continue
            host, twin = halves
            gaps = _gaps(metric, host, twin)
            p_values["Wilcoxon, pairs of processes"].append(wilcoxon(gaps).p)
            if host.values.std() > 0 and twin.values.std() > 0:
                groups = [summarise(host.values), summarise(twin.values)]
                p_values["Welch, processes"].append(welch(groups).p)
            middle = float(np.median(host.values)) + metric.base
            percents.append(100 * abs(float(np.median(gaps))) / middle)
        if percents:
            phantoms.append(
                Phantom(
                    metric.name,
                    len(percents),
                    float(np.median(percents)),
                    float(np.percentile(percents, 95)),
                )
            )
    if environment["design"] == "sequential":
        # Nothing was measured side by side: what the paper did, and all that can be done.
        p_values = {"Welch, records": p_values["Welch, processes"]}
    rates = tuple(rate(test, values, alpha) for test, values in p_values.items())
    return Outcome(environment["design"], replicates, blocks, alpha, rates, tuple(phantoms))
