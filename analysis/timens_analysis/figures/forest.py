# SPDX-License-Identifier: LGPL-2.1-or-later
"""Effects with their intervals: over all metrics in percent, and of one metric in its unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timens_analysis.figures.sheet import (
    BAND,
    INK,
    SELF,
    Area,
    Axis,
    Dots,
    Label,
    Line,
    Sheet,
    bottom_axis,
    padded,
    style,
)
from timens_analysis.results import MetricResult, PairResult
from timens_analysis.stats.describe import Interval
from timens_analysis.text import MINUS, Scale

ROW, GAP = 13.0, 9.0
LEFT, RIGHT, TOP = 262.0, 20.0, 34.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: an interval, and how it is drawn."""

    label: str
    interval: Interval
    colour: str
    shape: str


def overview(results: Sequence[MetricResult], margin_percent: float) -> Sheet | None:
    """Every level against the baseline, and the baseline against itself, in percent."""
    groups = [(r.metric.name, _percent_bars(r)) for r in results]
    groups = [(name, bars) for name, bars in groups if bars]
    if not groups:
        return None
    rows = sum(len(bars) * ROW + GAP for _, bars in groups)
    bottom = TOP + rows
    width = 820.0
    sheet = Sheet(
        "Effects in percent of the baseline",
        "For every metric, the relative difference of each level to the baseline with its"
        " confidence interval; the same numbers are in the table of effects.",
        width,
        bottom + 40,
    )
    # A positive control has to move, and by far the most: it would flatten all the others.
    controls = {r.metric.name for r in results if r.metric.control == "positive"}
    shown = [bar.interval for name, bars in groups for bar in bars if name not in controls]
    shown.append(Interval(-margin_percent, 0.0, margin_percent))
    axis = _shared_axis(shown, LEFT, width - RIGHT)
    low, high = axis.at(-margin_percent), axis.at(margin_percent)
    sheet.add(Area((low, TOP - 4), high - low, rows, BAND))
    bottom_axis(
        sheet, axis, TOP - 4, bottom - 4, f"% of the baseline (shaded: ±{margin_percent:g} %)"
    )
    sheet.add(Line((axis.at(0), TOP - 4), (axis.at(0), bottom - 4), INK, 1.2))
    _legend(sheet, groups)
    y = TOP
    for name, bars in groups:
        middle = y + (len(bars) - 1) * ROW / 2 + ROW / 2
        sheet.add(Label((LEFT - 10, middle + 4), name, "end", 11))
        for bar in bars:
            _draw(sheet, axis, bar, y + ROW / 2)
            y += ROW
        y += GAP
    return sheet


def of_metric(result: MetricResult) -> Sheet | None:
    """All pairs of one metric, in its own unit."""
    bars = _unit_bars(result)
    if not bars:
        return None
    scale = Scale(result)
    height = 40 + len(bars) * 24.0 + 40
    sheet = Sheet(f"{result.metric.name}: differences", _tell(bars, scale.unit), 360, height)
    axis = _shared_axis([bar.interval for bar in bars], 135, 345)
    bottom = height - 40
    bottom_axis(sheet, axis, 26, bottom, f"difference, {scale.unit}")
    sheet.add(Label((8, 14), "Differences with intervals", size=11, bold=True))
    sheet.add(Line((axis.at(0), 26), (axis.at(0), bottom), INK, 1.2))
    for place, bar in enumerate(bars):
        y = 42 + place * 24.0
        sheet.add(Label((127, y + 4), bar.label, "end", 10))
        _draw(sheet, axis, bar, y)
    return sheet


def interval_of(pair: PairResult) -> Interval | None:
    """In the unit of the metric: paired where there are blocks, else Games-Howell or Tukey."""
    if pair.paired is not None:
        return pair.paired.median
    if pair.independent is None:
        return None
    test = pair.independent.test
    return Interval(test.low, test.diff, test.high)


def _percent_bars(result: MetricResult) -> list[Bar]:
    names = [level.name for level in result.metric.levels]
    bars = []
    for pair in result.pairs:
        interval = pair.percent
        if pair.j == names[0] and interval is not None:
            bars.append(Bar(pair.i, interval, *style(names.index(pair.i))))
    if result.aa is not None and (interval := result.aa.percent) is not None:
        bars.append(Bar(result.aa.i, interval, *SELF))
    return bars


def _unit_bars(result: MetricResult) -> list[Bar]:
    names = [level.name for level in result.metric.levels]
    factor = Scale(result).factor
    bars = []
    for pair in (*result.pairs, *([result.aa] if result.aa else [])):
        interval = interval_of(pair)
        if interval is None:
            continue
        look = SELF if pair is result.aa else style(names.index(pair.i))
        scaled = Interval(
            interval.low / factor,
            interval.estimate / factor,
            interval.high / factor,
            interval.confidence,
        )
        label = f"{_short(pair.i)} − {_short(pair.j)}"
        bars.append(Bar(label, scaled, *look))
    return bars


def _short(name: str) -> str:
    return {"baseline": "base", "baseline_aa": "base A/A"}.get(name, name[:12])


def _shared_axis(intervals: Sequence[Interval], start: float, end: float) -> Axis:
    """Around 0 and all estimates; the widest twentieth of the limits may be cut (by an arrow)."""
    estimates = [i.estimate for i in intervals]
    low = min(0.0, *estimates, float(np.quantile([i.low for i in intervals], 0.05)))
    high = max(0.0, *estimates, float(np.quantile([i.high for i in intervals], 0.95)))
    return padded(low, high, start, end)


def _draw(sheet: Sheet, axis: Axis, bar: Bar, y: float) -> None:
    estimate, low, high = bar.interval.estimate, bar.interval.low, bar.interval.high
    if not axis.low <= estimate <= axis.high:
        _point_outside(sheet, axis, bar, y)
        return
    sheet.add(Line((axis.at(low), y), (axis.at(high), y), bar.colour, 2))
    for limit, cut, direction in ((low, low < axis.low, 1), (high, high > axis.high, -1)):
        x = axis.at(limit)
        if cut:  # goes on beyond the axis: an arrow in place of a stop
            _arrow(sheet, x, y, direction, bar.colour)
        else:
            sheet.add(Line((x, y - 3.5), (x, y + 3.5), bar.colour, 1.5))
    sheet.add(Dots([(axis.at(estimate), y)], bar.colour, bar.shape, 7))


def _arrow(sheet: Sheet, x: float, y: float, inwards: int, colour: str) -> None:
    for slope in (-4, 4):
        sheet.add(Line((x, y), (x + 5 * inwards, y + slope), colour, 2))


def _point_outside(sheet: Sheet, axis: Axis, bar: Bar, y: float) -> None:
    """All of it lies beyond the axis: an arrow, and the number in words."""
    x = axis.at(bar.interval.estimate)
    inwards, anchor = (-1, "end") if bar.interval.estimate > axis.high else (1, "start")
    told = f"{bar.interval.estimate:+.0f}".replace("-", MINUS)
    _arrow(sheet, x, y, inwards, bar.colour)
    sheet.add(Label((x + 10 * inwards, y + 4), told, anchor, 10, bar.colour))


def _legend(sheet: Sheet, groups: Sequence[tuple[str, Sequence[Bar]]]) -> None:
    seen = {bar.label: bar for _, bars in groups for bar in bars}
    x = LEFT
    for name, bar in seen.items():
        sheet.add(Dots([(x, 14)], bar.colour, bar.shape, 7), Label((x + 9, 18), name, size=11))
        x += 30 + 6.5 * len(name)


def _tell(bars: Sequence[Bar], unit: str) -> str:
    told = (
        f"{b.label}: {b.interval.estimate:.4g} [{b.interval.low:.4g}, {b.interval.high:.4g}] {unit}"
        for b in bars
    )
    return "; ".join(told)
