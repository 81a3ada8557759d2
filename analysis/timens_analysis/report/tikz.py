# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sheet as a TikZ picture: the same marks, drawn by LaTeX."""

from __future__ import annotations

from timens_analysis.figures.sheet import Area, Dots, Label, Line, Mark, Sheet
from timens_analysis.report.tex import escape

PT = 0.6  # points on paper for a pixel on the page
ANCHOR = {"start": "base west", "middle": "base", "end": "base east"}


def render(sheet: Sheet) -> str:
    body = "\n".join(_mark(mark) for mark in sheet.marks)
    colours = sorted({mark.colour for mark in sheet.marks})
    defined = "\n".join(f"\\definecolor{{{_name(c)}}}{{HTML}}{{{c[1:]}}}" for c in colours)
    return (
        f"{defined}\n"
        f"\\begin{{tikzpicture}}[x={PT}pt,y=-{PT}pt,inner sep=0pt]\n{body}\n\\end{{tikzpicture}}"
    )


def _name(colour: str) -> str:
    return f"c{colour[1:]}"


def _mark(mark: Mark) -> str:
    colour = _name(mark.colour)
    match mark:
        case Line((x1, y1), (x2, y2), _, width, dash):
            dashes = ",dashed" if dash else ""
            return (
                f"\\draw[{colour},line width={width * PT:.2f}pt{dashes}]"
                f" ({x1:.1f},{y1:.1f}) -- ({x2:.1f},{y2:.1f});"
            )
        case Area((x, y), width, height):
            return f"\\fill[{colour}] ({x:.1f},{y:.1f}) rectangle +({width:.1f},{height:.1f});"
        case Dots(points, _, shape, size):
            r = size / 2
            drawn = {
                "circle": "circle[radius={r}]",
                "square": "+(-{r},-{r}) rectangle +({r},{r})",
                "triangle": "+(0,-{r}) -- +({r},{r}) -- +(-{r},{r}) -- cycle",
                "diamond": "+(0,-{r}) -- +({r},0) -- +(0,{r}) -- +(-{r},0) -- cycle",
            }[shape].format(r=f"{r * 1.1:.2f}")
            return "\n".join(f"\\fill[{colour}] ({x:.1f},{y:.1f}) {drawn};" for x, y in points)
        case Label((x, y), text, anchor, size, _, bold):
            weight = "\\bfseries" if bold else ""
            height = size * PT * 1.15
            return (
                f"\\node[{colour},anchor={ANCHOR[anchor]}] at ({x:.1f},{y:.1f})"
                f" {{\\fontsize{{{height:.1f}}}{{{height * 1.2:.1f}}}\\selectfont"
                f"\\sffamily{weight} {escape(text)}}};"
            )
