# SPDX-License-Identifier: LGPL-2.1-or-later
"""What one experiment left behind, and the numbers that several of them make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from timens_analysis.model import Run, Values
from timens_analysis.stats import bootstrap
from timens_analysis.stats.describe import Interval

Row = Mapping[str, Any]
FEWEST_ROUNDS = 6  # as for blocks: with fewer, a 95 % interval is the whole range


@dataclass(frozen=True, slots=True)
class Data:
    """The file of an experiment: its first line, the others, and the studies that belong to it."""

    about: Row
    rows: Sequence[Row]
    runs: Mapping[str, Run] = field(default_factory=dict)

    @property
    def host(self) -> Row:
        host: Row = self.about["host"]
        return host

    @property
    def ns_per_tick(self) -> float:
        return float(self.about["ns_per_tick"])

    def of(self, kind: str) -> list[Row]:
        """The rows that have this key."""
        return [row for row in self.rows if kind in row]


def clock_source(host: Row) -> str:
    return str(host["clocksource"]["current"])


def spaced(number: int) -> str:
    """5 000 000"""
    return f"{number:,}".replace(",", " ")


def ns_per_call(record: Row, ns_per_tick: float) -> float:
    """The median over the batches of a record."""
    return float(np.median(record["batch_ticks"])) * ns_per_tick / float(record["batch"])


def median_interval(values: Sequence[float]) -> Interval | None:
    """The median with its bootstrap interval; None where there are too few for one."""
    array: Values = np.asarray(values, dtype=np.float64)
    if array.size < FEWEST_ROUNDS:
        return None
    distribution = bootstrap.medians(array, np.random.default_rng(0))
    return bootstrap.percentile(distribution, float(np.median(array)), 0.95, array.size)
