# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sheet as SVG: small (thousands of dots are one path) and with a text for those who cannot
see it."""

from __future__ import annotations

from html import escape

from timens_analysis.figures.sheet import Area, Dots, Label, Line, Mark, Point, Sheet


def render(sheet: Sheet, identity: str) -> str:
    body = "".join(_mark(mark) for mark in sheet.marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{identity}-t'
        f' {identity}-d" viewBox="0 0 {_n(sheet.width)} {_n(sheet.height)}"'
        f' width="{_n(sheet.width)}" height="{_n(sheet.height)}">'
        f'<title id="{identity}-t">{escape(sheet.title)}</title>'
        f'<desc id="{identity}-d">{escape(sheet.summary)}</desc>{body}</svg>'
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _mark(mark: Mark) -> str:
    match mark:
        case Line((x1, y1), (x2, y2), colour, width, dash):
            dashes = ' stroke-dasharray="4 3"' if dash else ""
            return (
                f'<path d="M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" stroke="{colour}"'
                f' stroke-width="{width:g}" fill="none"{dashes}/>'
            )
        case Area((x, y), width, height, colour):
            return (
                f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
                f' fill="{colour}"/>'
            )
        case Dots():
            return _dots(mark)
        case Label((x, y), text, anchor, size, colour, bold):
            weight = ' font-weight="bold"' if bold else ""
            return (
                f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}" font-size="{size:g}"'
                f' fill="{colour}"{weight}>{escape(text)}</text>'
            )


def _dots(dots: Dots) -> str:
    if not dots.points:
        return ""
    opacity = f' opacity="{dots.opacity:g}"' if dots.opacity < 1 else ""
    if dots.shape in ("circle", "square"):
        # A line of no length is drawn as its cap.
        cap = "round" if dots.shape == "circle" else "square"
        path = "".join(f"M{_n(x)} {_n(y)}h0" for x, y in dots.points)
        width = dots.size if dots.shape == "circle" else dots.size * 0.88
        return (
            f'<path d="{path}" stroke="{dots.colour}" stroke-width="{width:g}"'
            f' stroke-linecap="{cap}" fill="none"{opacity}/>'
        )
    path = "".join(_polygon(point, dots.shape, dots.size / 2) for point in dots.points)
    return f'<path d="{path}" fill="{dots.colour}"{opacity}/>'


def _polygon(point: Point, shape: str, r: float) -> str:
    x, y = point
    if shape == "triangle":
        return f"M{_n(x)} {_n(y - 1.15 * r)}l{_n(1.1 * r)} {_n(2 * r)}h{_n(-2.2 * r)}z"
    return (
        f"M{_n(x)} {_n(y - 1.2 * r)}l{_n(1.2 * r)} {_n(1.2 * r)} {_n(-1.2 * r)} {_n(1.2 * r)}"
        + (f" {_n(-1.2 * r)} {_n(-1.2 * r)}z")
    )
