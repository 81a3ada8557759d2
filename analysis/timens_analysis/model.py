# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plain data between the stages: load -> model -> stats -> compare -> report.

Times are in nanoseconds unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Level:
    """One arm's values of one metric: one value per process, in order of `blocks`."""

    name: str
    values: Values
    blocks: Integers | None = None  # None: the values of two levels do not belong together
    order: Integers | None = None  # place in time over the whole run


@dataclass(frozen=True, slots=True)
class Metric:
    """The samples that belong to one question.  The first level is what others are compared to."""

    name: str
    levels: tuple[Level, ...]
    aa: Level | None = None  # the baseline a second time
    unit: str = "ns"
    base: float = 0.0  # percentages are of value + base: sleeps hold oversleep alone
    resolution: float = 0.0  # one step of the counter, spread over a batch
    control: str | None = None  # "negative": no namespace can move it; "positive": one must
    control_not_in: frozenset[str] = frozenset()  # arms that may move it, by a seccomp filter
    # (i, j) -> block -> i - j, the median over batches that ran one after the other; empty where
    # the workers took no turns.  Each pair of levels is there once, in one of its two orders.
    neighbours: Mapping[tuple[str, str], Mapping[int, float]] = field(default_factory=dict)

    @property
    def paired(self) -> bool:
        """Whether values of one block were measured side by side."""
        return len(self.levels) > 1 and all(level.blocks is not None for level in self.levels)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be answered; printed beside what can."""

    metric: str
    level: str | None
    text: str

    def __str__(self) -> str:
        where = self.metric if self.level is None else f"{self.metric}: {self.level}"
        return f"{where}: {self.text}"


@dataclass(frozen=True, slots=True)
class Conduct:
    """How the measuring went."""

    records: int
    remeasured: int
    flags: Mapping[str, int] = field(default_factory=dict)
    blocks_planned: int = 0
    blocks_complete: int = 0
    cut_off: bool = False  # the last line was only half written


@dataclass(frozen=True, slots=True)
class Run:
    """A results folder."""

    path: Path
    environment: Mapping[str, Any]  # schemas/environment.schema.json
    metrics: tuple[Metric, ...]
    conduct: Conduct
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        return str(self.environment["run"])
