# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the analysis found: plain data between compare/verdict and figures/report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from timens_analysis.model import Metric, Problem
from timens_analysis.stats.describe import Interval, Test
from timens_analysis.stats.pairs import Pair

Method = Literal["auto", "welch", "paper"]
Center = Literal["median", "mean"]


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that is chosen before the data are looked at."""

    method: Method = "auto"  # auto: paired where the design is paired, else Welch + Games-Howell
    levene: Center = "median"
    margin_percent: float = 1.0
    alpha: float = 0.05
    seed: int = 0  # of the bootstrap

    @property
    def confidence(self) -> float:
        return 1 - self.alpha


@dataclass(frozen=True, slots=True)
class LevelResult:
    name: str
    n: int
    mean: float | None = None
    sd: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None
    shapiro: Test | None = None


@dataclass(frozen=True, slots=True)
class Paired:
    """One level against another within blocks; percentages are of the whole call."""

    blocks: int
    median: Interval  # of the differences, at the confidence asked for
    percent: Interval | None  # None: a host value is not positive
    percent_tost: Interval | None  # at 1 - 2 alpha: inside the margin, both one-sided tests pass
    wilcoxon: Test
    p_holm: float
    detectable_percent: float | None


@dataclass(frozen=True, slots=True)
class Independent:
    """One level against another, as if values of one block did not belong together."""

    test: Pair  # Games-Howell, or Tukey where `--method paper` chose it
    p_holm: float
    percent: Interval | None
    hedges_g: Interval
    tost_p: float
    equivalent_within_percent: float | None
    detectable_percent: float | None


REFUSED = "refused"
UNTESTED = "cannot be tested"


@dataclass(frozen=True, slots=True)
class Verdict:
    word: str
    reason: str = ""

    @property
    def refused(self) -> bool:
        return self.word == REFUSED


@dataclass(frozen=True, slots=True)
class PairResult:
    i: str
    j: str
    paired: Paired | None = None
    independent: Independent | None = None
    verdict: Verdict = Verdict(UNTESTED)  # paired where there are blocks: the one that counts
    mean_verdict: Verdict = Verdict(UNTESTED)  # by the means, for comparison with the paper

    @property
    def percent(self) -> Interval | None:
        """The relative effect by the method that decides."""
        if self.paired is not None:
            return self.paired.percent
        return self.independent.percent if self.independent is not None else None


@dataclass(frozen=True, slots=True)
class MetricResult:
    metric: Metric
    levels: tuple[LevelResult, ...]
    levene: dict[str, Test] = field(default_factory=dict)
    anova: Test | None = None
    welch: Test | None = None
    games_howell: tuple[Pair, ...] = ()
    tukey: tuple[Pair, ...] = ()
    friedman: Test | None = None
    friedman_p_holm: float | None = None
    omnibus: str = ""  # "Welch" or "ANOVA": the test on means that counts; "" where none can be
    omnibus_p_holm: float | None = None
    omega2: float | None = None
    gate: str = ""  # what `--method paper` chose, and why
    pairs: tuple[PairResult, ...] = ()
    aa: PairResult | None = None

    @property
    def omnibus_test(self) -> Test | None:
        return {"Welch": self.welch, "ANOVA": self.anova}.get(self.omnibus)


@dataclass(frozen=True, slots=True)
class Analysis:
    options: Options
    metrics: tuple[MetricResult, ...]
    problems: tuple[Problem, ...] = ()
