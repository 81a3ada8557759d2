# SPDX-License-Identifier: LGPL-2.1-or-later
"""The values themselves: how they are distributed, against the normal, and over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from timens_analysis.figures.sheet import (
    INK,
    SELF,
    Dots,
    Label,
    Line,
    Sheet,
    bottom_axis,
    left_axis,
    padded,
    style,
)
from timens_analysis.model import Level, Values
from timens_analysis.results import MetricResult
from timens_analysis.text import Scale

WIDTH, WIDE, HEIGHT = 360.0, 1090.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 348.0, 40.0, 200.0
GOLDEN = 0.6180339887  # spreads points evenly, and the same way in every report


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    values: Values
    order: Values
    colour: str
    shape: str


def _series(result: MetricResult) -> list[_Series]:
    """Levels and the A/A arm in the unit of display; values that are not numbers are left out."""
    metric, factor = result.metric, Scale(result).factor
    levels: list[tuple[Level, tuple[str, str]]] = [
        (level, style(place)) for place, level in enumerate(metric.levels)
    ]
    if metric.aa is not None:
        levels.insert(1, (metric.aa, SELF))
    series = []
    for level, look in levels:
        finite = np.isfinite(level.values)
        if finite.any():
            order = np.arange(level.values.size) if level.order is None else level.order
            places = order[finite].astype(np.float64)
            series.append(_Series(level.name, level.values[finite] / factor, places, *look))
    return series


def _range(series: list[_Series]) -> tuple[float, float]:
    """The middle 96 % of all values and half as much again; what lies beyond is counted."""
    pooled = np.concatenate([s.values for s in series])
    low, high = np.quantile(pooled, [0.02, 0.98])
    reach = 0.5 * (high - low)
    return float(max(pooled.min(), low - reach)), float(min(pooled.max(), high + reach))


def _beyond(values: Values, low: float, high: float) -> str:
    outside = int(((values < low) | (values > high)).sum())
    return f"{outside} beyond" if outside else ""


def distribution(result: MetricResult) -> Sheet | None:
    """Every value as a dot, with median and quartiles, a row for each level."""
    series = _series(result)
    if not series:
        return None
    scale = Scale(result)
    row = 42.0
    bottom = 30 + row * len(series)
    sheet = Sheet(
        f"{result.metric.name}: distribution",
        "; ".join(f"{s.name}: median {np.median(s.values):.6g} {scale.unit}" for s in series),
        WIDTH,
        bottom + 40,
    )
    low, high = _range(series)
    axis = padded(low, high, 92, RIGHT)
    what = "oversleep" if result.metric.base else "time per call"
    bottom_axis(sheet, axis, 26, bottom, f"{what}, {scale.unit}")
    sheet.add(Label((8, 14), "Distribution: dots, quartiles, median", size=11, bold=True))
    for place, s in enumerate(series):
        y = 30 + row * (place + 0.5)
        shown = s.values[(s.values >= axis.low) & (s.values <= axis.high)]
        spread = (np.arange(shown.size) * GOLDEN % 1 - 0.5) * 18
        points = [(axis.at(v), y + 4 + d) for v, d in zip(shown, spread, strict=True)]
        quarter, middle, three = np.quantile(s.values, [0.25, 0.5, 0.75])
        sheet.add(
            Dots(points, s.colour, s.shape, 3, 0.45),
            Line((axis.at(quarter), y - 11), (axis.at(three), y - 11), INK, 3),
            Line((axis.at(middle), y - 16), (axis.at(middle), y + 14), INK, 1.5),
            Label((86, y + 4), s.name[:14], "end", 10),
        )
        if note := _beyond(s.values, axis.low, axis.high):
            sheet.add(Label((RIGHT, y - 13), note, "end", 9))
    return sheet


def quantiles(result: MetricResult) -> Sheet | None:
    """Q-Q plot against the normal: on its line if normal, in steps if the clock is too coarse."""
    series = _series(result)
    if not series:
        return None
    sheet = Sheet(
        f"{result.metric.name}: Q-Q plot",
        "Sorted values over the quantiles of a normal distribution; lines go through the quartiles",
        WIDTH,
        HEIGHT,
    )
    low, high = _range(series)
    y_axis = padded(low, high, BOTTOM, TOP)
    z_all = [_normal_quantiles(s.values.size) for s in series]
    reach = max(float(z[-1]) for z in z_all) or 1.0
    x_axis = padded(-reach, reach, LEFT, RIGHT)
    bottom_axis(sheet, x_axis, TOP, BOTTOM, "normal quantile")
    left_axis(sheet, y_axis, LEFT, RIGHT, Scale(result).unit)
    sheet.add(Label((8, 14), "Q-Q plot against the normal", size=11, bold=True))
    for s, z in zip(series, z_all, strict=True):
        ordered = np.sort(s.values)
        inside = (ordered >= y_axis.low) & (ordered <= y_axis.high)
        points = [
            (x_axis.at(a), y_axis.at(b)) for a, b in zip(z[inside], ordered[inside], strict=True)
        ]
        quarter, three = np.quantile(ordered, [0.25, 0.75])
        slope, centre = (three - quarter) / (2 * 0.67449), (three + quarter) / 2
        ends = np.array([-reach, reach])
        if slope > 0:  # only the part of the line that is on the sheet
            ends = np.clip(ends, (y_axis.low - centre) / slope, (y_axis.high - centre) / slope)
        a, b = ((x_axis.at(z_end), y_axis.at(centre + slope * z_end)) for z_end in ends)
        sheet.add(Line(a, b, s.colour, 0.9, True), Dots(points, s.colour, s.shape, 3, 0.7))
    return sheet


def _normal_quantiles(n: int) -> Values:
    """Expected places of n sorted normal values: Blom (1958)."""
    return np.asarray(ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25)))


def run_order(result: MetricResult) -> Sheet | None:
    """Values in the order in which they were measured: drift and disturbances."""
    series = _series(result)
    if not series:
        return None
    sheet = Sheet(
        f"{result.metric.name}: run order",
        "Values over the time at which they were measured",
        WIDE,
        HEIGHT,
    )
    low, high = _range(series)
    y_axis = padded(low, high, BOTTOM, TOP)
    order = np.concatenate([s.order for s in series])
    right = WIDE - 12
    x_axis = padded(float(order.min()), float(order.max()), LEFT, right, 0.02)
    bottom_axis(sheet, x_axis, TOP, BOTTOM, "record number in the run")
    left_axis(sheet, y_axis, LEFT, right, Scale(result).unit)
    sheet.add(Label((8, 14), "Run order", size=11, bold=True))
    x = LEFT + 62
    for s in series:
        shown = (s.values >= y_axis.low) & (s.values <= y_axis.high)
        points = [
            (x_axis.at(a), y_axis.at(b))
            for a, b in zip(s.order[shown], s.values[shown], strict=True)
        ]
        sheet.add(Dots(points, s.colour, s.shape, 4, 0.7))
        sheet.add(Dots([(x + 12, 10)], s.colour, s.shape, 7), Label((x + 20, 14), s.name))
        x += 40 + 6.5 * len(s.name)
    return sheet
