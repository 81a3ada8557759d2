# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers for people.  Every format of the report takes its words from here."""

from __future__ import annotations

import math

from timens_analysis.results import MetricResult
from timens_analysis.stats.describe import Interval

MINUS = "−"
NONE = "–"
SCALES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def p_value(p: float | None) -> str:
    """Below 0.001 the digits of a p value are noise."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def statistic(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def df(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def signed(value: float, digits: int) -> str:
    """With its sign, and never "−0.00"."""
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        text = text[1:]
    return text.replace("-", MINUS)


def percent(value: float | None) -> str:
    """Two decimals, more where they would all be 0."""
    if value is None:
        return NONE
    return f"{value:.{decimals(value)}f} %"


def decimals(size: float, least: int = 2) -> int:
    """Enough to show two digits of a number of this size, between `least` and 7."""
    if size <= 0:
        return least
    return min(7, max(least, 1 - math.floor(math.log10(size))))


def interval(limits: Interval | None, digits: int = 2, unit: str = "") -> str:
    """+1.23 unit [+1.10, +1.36], with so many decimals that the limits can be told apart."""
    if limits is None:
        return NONE
    digits = decimals(limits.high - limits.low, digits)
    low, high = signed(limits.low, digits), signed(limits.high, digits)
    return f"{signed(limits.estimate, digits)}{unit} [{low}, {high}]"


class Scale:
    """The unit in which one metric is shown, and how many decimals make sense."""

    def __init__(self, result: MetricResult) -> None:
        known = [abs(x.median) for x in result.levels if x.median is not None]
        size = max(known, default=1.0) + result.metric.base
        self.factor, self.unit = 1.0, result.metric.unit
        if result.metric.unit == "ns":
            self.factor, self.unit = next((f, u) for f, u in SCALES if size >= f or f == 1.0)
        if result.metric.base:  # the oversleep alone is shown: microseconds of 100 ms
            self.factor, self.unit = 1e3, "µs"
            size = max(known, default=1.0)
        shown = size / self.factor
        self.digits = 2 if shown <= 0 else min(6, max(2, 3 - math.floor(math.log10(shown))))

    def value(self, x: float | None) -> str:
        if x is None:
            return NONE
        return f"{x / self.factor:.{self.digits}f}".replace("-", MINUS)

    def mean_sd(self, mean: float | None, sd: float | None) -> str:
        if mean is None:
            return NONE
        return f"{self.value(mean)} ± {self.value(sd)} {self.unit}"

    def interval(self, limits: Interval | None) -> str:
        if limits is None:
            return NONE
        f = self.factor
        scaled = Interval(limits.low / f, limits.estimate / f, limits.high / f, limits.confidence)
        return interval(scaled, self.digits)
