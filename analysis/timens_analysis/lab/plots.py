# SPDX-License-Identifier: LGPL-2.1-or-later
"""The two kinds of plot that the lab needs: rows of marks on one scale, and lines over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from timens_analysis.figures.sheet import (
    FAINT,
    INK,
    Axis,
    Dots,
    Label,
    Line,
    Sheet,
    bottom_axis,
    left_axis,
    padded,
    style,
)
from timens_analysis.lab.data import spaced

FEW_DECADES = 3.5  # beyond, only powers of ten have room for their numbers
ROW, WIDTH, LEFT, RIGHT, TOP = 19.0, 760.0, 255.0, 20.0, 36.0
LETTER, GAP = 6.0, 24.0  # pixels of a legend, about
HEIGHT, PLOT_LEFT, PLOT_BOTTOM = 260.0, 62.0, 215.0


@dataclass(frozen=True, slots=True)
class Mark:
    """One value of a row, with its interval where it has one; `series` chooses its look."""

    series: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class MarkedRow:
    label: str
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Curve:
    """Dots over time."""

    name: str
    points: Sequence[tuple[float, float]]


def rows_on_a_scale(
    title: str,
    summary: str,
    series: Sequence[str],
    rows: Sequence[MarkedRow],
    unit: str,
    *,
    log: bool = False,
) -> Sheet:
    """A line of text and its marks, row by row; `log` for values that span decades."""
    bottom = TOP + ROW * len(rows) + 4
    sheet = Sheet(title, summary, WIDTH, bottom + 40)
    ends = [x for row in rows for m in row.marks for x in (m.value, m.low, m.high) if x is not None]
    if log:
        axis = _decades(sheet, ends, bottom, unit)
    else:
        axis = padded(min(0.0, *ends), max(0.0, *ends), LEFT, WIDTH - RIGHT)
        bottom_axis(sheet, axis, TOP - 6, bottom, unit)
        sheet.add(Line((axis.at(0), TOP - 6), (axis.at(0), bottom), INK, 1.2))
    _legend(sheet, series, 12.0)
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        sheet.add(Label((LEFT - 10, y + 4), row.label, "end", 11))
        for mark in row.marks:
            _draw(sheet, axis, mark, y, log=log)
    return sheet


def over_time(
    title: str, summary: str, curves: Sequence[Curve], x_title: str, y_title: str
) -> Sheet:
    """Dots, a colour and a shape for each curve."""
    sheet = Sheet(title, summary, WIDTH, HEIGHT)
    xs = [x for curve in curves for x, _ in curve.points]
    ys = [y for curve in curves for _, y in curve.points]
    x_axis = padded(min(xs), max(xs), PLOT_LEFT, WIDTH - RIGHT, 0.02)
    y_axis = padded(min(0.0, *ys), max(0.0, *ys), PLOT_BOTTOM, TOP + 12)
    bottom_axis(sheet, x_axis, TOP + 12, PLOT_BOTTOM, x_title)
    left_axis(sheet, y_axis, PLOT_LEFT, WIDTH - RIGHT, y_title)
    _legend(sheet, [curve.name for curve in curves], PLOT_LEFT + 10)
    for place, curve in enumerate(curves):
        colour, shape = style(place)
        points = [(x_axis.at(x), y_axis.at(y)) for x, y in curve.points]
        sheet.add(Dots(points, colour, shape, 4, 0.6))
    return sheet


def _draw(sheet: Sheet, axis: Axis, mark: Mark, y: float, *, log: bool) -> None:
    def at(value: float) -> float:
        return axis.at(math.log10(value) if log else value)

    colour, shape = style(mark.series)
    if mark.low is not None and mark.high is not None:
        sheet.add(Line((at(mark.low), y), (at(mark.high), y), colour, 2))
    sheet.add(Dots([(at(mark.value), y)], colour, shape, 7))


def _decades(sheet: Sheet, values: Sequence[float], bottom: float, unit: str) -> Axis:
    """A scale of powers of ten, with a line at 1, 2 and 5 of each where there is room."""
    low, high = math.log10(min(values)), math.log10(max(values))
    axis = padded(low, high, LEFT, WIDTH - RIGHT)
    for power in range(math.floor(axis.low), math.ceil(axis.high) + 1):
        for step in (1, 2, 5) if high - low < FEW_DECADES else (1,):
            place = power + math.log10(step)
            if axis.low <= place <= axis.high:
                x = axis.at(place)
                sheet.add(Line((x, TOP - 6), (x, bottom), FAINT, 0.8))
                sheet.add(Label((x, bottom + 13), _round(step * 10.0**power), "middle", 10))
    sheet.add(Line((axis.start, bottom), (axis.end, bottom), INK))
    middle = (axis.start + axis.end) / 2
    sheet.add(Label((middle, bottom + 27), f"{unit} (each step is a factor)", "middle", 10.5))
    return axis


def _round(value: float) -> str:
    return spaced(round(value)) if value >= 1 else f"{value:g}"


def _legend(sheet: Sheet, names: Sequence[str], x: float) -> None:
    for place, name in enumerate(names):
        if not name:  # the look is not used here
            continue
        colour, shape = style(place)
        sheet.add(Dots([(x, 14)], colour, shape, 7), Label((x + 9, 18), name, size=11))
        x += GAP + LETTER * len(name)
