# SPDX-License-Identifier: LGPL-2.1-or-later
"""Marks, styles and axes: all that the plots of the report are made of.

Coordinates are in pixels from the upper left corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from timens_analysis.text import MINUS

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    start: Point
    end: Point
    colour: str
    width: float = 1.0
    dash: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A filled rectangle."""

    corner: Point
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Dots:
    points: Sequence[Point]
    colour: str
    shape: str  # circle, square, triangle, diamond
    size: float = 4.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Label:
    at: Point
    text: str
    anchor: str = "start"  # start, middle, end
    size: float = 11.0
    colour: str = "#222222"
    bold: bool = False


Mark = Line | Area | Dots | Label


@dataclass(slots=True)
class Sheet:
    """One figure.  `summary` is what a reader who cannot see it is told."""

    title: str
    summary: str
    width: float
    height: float
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks.extend(marks)


INK = "#222222"
FAINT = "#D9D9D9"
BAND = "#F0F0E4"

# Okabe & Ito (2008): told apart with every common colour blindness; shape and row say the same
# once more, so that nothing rests on colour alone and a grey print is readable.
BASELINE = ("#000000", "circle")
SELF = ("#767676", "diamond")
OTHERS = (
    ("#0072B2", "square"),
    ("#D55E00", "triangle"),
    ("#009E73", "diamond"),
    ("#CC79A7", "circle"),
    ("#E69F00", "square"),
    ("#56B4E9", "triangle"),
)


def style(place: int) -> tuple[str, str]:
    """Colour and shape of the level at this place; 0 is the baseline."""
    return BASELINE if place == 0 else OTHERS[(place - 1) % len(OTHERS)]


@dataclass(frozen=True, slots=True)
class Axis:
    """Values low..high on pixels start..end."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values: steps of 1, 2 or 5 times a power of ten."""
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [n * step for n in range(first, last + 1)]


def padded(low: float, high: float, start: float, end: float, share: float = 0.06) -> Axis:
    """An axis with some air at both ends, also when all values are equal."""
    if high <= low:
        spread = abs(low) * 1e-3 or 1.0
        low, high = low - spread, high + spread
    air = share * (high - low)
    return Axis(low - air, high + air, start, end)


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """With as many decimals as the step needs."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(value) or 1.0
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def bottom_axis(sheet: Sheet, axis: Axis, top: float, bottom: float, title: str) -> None:
    """Ticks, faint grid lines and a title below."""
    ticks = axis.ticks()
    for value in ticks:
        x = axis.at(value)
        sheet.add(Line((x, top), (x, bottom), FAINT, 0.8))
        sheet.add(Label((x, bottom + 13), tick_text(value, ticks), "middle", 10))
    sheet.add(Line((axis.start, bottom), (axis.end, bottom), INK))
    sheet.add(Label(((axis.start + axis.end) / 2, bottom + 27), title, "middle", 10.5))


def left_axis(sheet: Sheet, axis: Axis, left: float, right: float, title: str) -> None:
    """Ticks and grid lines; the title stands above, where it needs no turned letters."""
    ticks = axis.ticks(4)
    for value in ticks:
        y = axis.at(value)
        sheet.add(Line((left, y), (right, y), FAINT, 0.8))
        sheet.add(Label((left - 5, y + 3.5), tick_text(value, ticks), "end", 10))
    sheet.add(Line((left, axis.start), (left, axis.end), INK))
    sheet.add(Label((left, axis.end - 6), title, "start", 10))
