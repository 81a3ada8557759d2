# SPDX-License-Identifier: LGPL-2.1-or-later
"""A document as LaTeX that pdflatex compiles: booktabs, longtable and TikZ, landscape A4."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from timens_analysis.report import tikz
from timens_analysis.report.document import (
    Block,
    Cell,
    Column,
    Commands,
    Document,
    Figures,
    Items,
    Section,
    Table,
    Text,
)
from timens_analysis.report.tex import escape, inline

PREAMBLE = r"""% SPDX-License-Identifier: LGPL-2.1-or-later
% made by timens-study; compile with pdflatex (twice, for the widths of the tables)
\documentclass[9pt,a4paper]{extarticle}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern,textcomp}
\usepackage[landscape,margin=12mm]{geometry}
\usepackage{booktabs,longtable,array}
\usepackage{xcolor,tikz}
\usepackage{hyperref}
\hypersetup{hidelinks}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\tabcolsep}{3pt}
\setlength{\LTleft}{0pt}
\newcolumntype{L}[1]{>{\raggedright\arraybackslash}p{#1}}
\begin{document}
"""

# More characters than this in a column, and it is set as a paragraph.
LONG = 32
PAPER_PT = 770.0  # A4 landscape without its margins


def render(document: Document) -> str:
    parts = [PREAMBLE, f"{{\\LARGE {escape(document.title)}\\par}}", inline(document.lead)]
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [text for block in section.blocks if (text := _block(block))]
    if not blocks:
        return []
    command = "\\section*" if section.level == 2 else "\\subsection*"
    return [f"{command}{{{escape(section.title)}}}", *blocks]


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return inline(text)
        case Items(items):
            rows = "\n".join(
                f"\\item {f'{chr(92)}textbf{{{escape(term)}:}} ' if term else ''}{inline(said)}"
                for term, said in items
            )
            return f"\\begin{{itemize}}\n{rows}\n\\end{{itemize}}" if items else ""
        case Commands(lines):
            code = "\\\\\n".join(f"\\texttt{{{escape(line)}}}" for line in lines)
            return f"\\begin{{flushleft}}\n{code}\n\\end{{flushleft}}"
        case Table():
            return "\n\n".join("\n".join(_table(part)) for part in block.split())
        case Figures(sheets, everywhere):
            return "\n\n".join(map(tikz.render, sheets)) if everywhere else ""


def _table(table: Table) -> Iterator[str]:
    widths = [_width(table, place) for place in range(len(table.columns))]
    letters = "".join(map(_letter, table.columns, widths))
    heads = " & ".join(_head(column) for column in table.columns)
    size = _font_size(table, widths)
    yield f"{{\\fontsize{{{size:.1f}}}{{{1.2 * size:.1f}}}\\selectfont\\sffamily"
    yield f"\\begin{{longtable}}{{@{{}}{letters}@{{}}}}"
    if table.caption:  # as a row: a heading above could be left behind on another page
        caption = f"{{\\normalsize\\bfseries {escape(table.caption)}}}"
        yield f"\\multicolumn{{{len(widths)}}}{{@{{}}l}}{{{caption}}} \\\\[3pt]"
    yield f"\\toprule\n{heads} \\\\\n\\midrule\n\\endfirsthead"
    yield f"\\toprule\n{heads} \\\\\n\\midrule\n\\endhead"
    for row in table.printed():
        yield f"{_row(row)} \\\\"
    yield "\\bottomrule\n\\end{longtable}}"


def _font_size(table: Table, widths: Sequence[int]) -> float:
    """As large as the paper allows.  (Sans serif: the serifs are drawn wider when small.)"""
    characters = sum(
        max(
            map(len, [*_lines(column.title), *(row[place].text for row in table.rows)]),
            default=0,
        )
        for place, column in enumerate(table.columns)
        if not widths[place]
    )
    wrapped = sum(_millimetres(width) * 2.85 for width in widths if width)
    left = PAPER_PT - wrapped - 6 * len(widths)
    return max(4.5, min(8.0, left / (0.56 * max(1, characters))))


def _head(column: Column) -> str:
    """A title of several words goes on several lines: the numbers decide the width."""
    lines = "\\\\ \\bfseries ".join(escape(line) for line in _lines(column.title))
    side = "r" if column.numeric else "l"
    return f"\\shortstack[{side}]{{\\bfseries {lines}}}"


def _lines(title: str, most: int = 12) -> list[str]:
    lines: list[str] = []
    for word in re.findall(r"\[[^]]*\]|\([^)]*\)|\S+", title):
        if lines and len(lines[-1]) + 1 + len(word) <= most:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _width(table: Table, place: int) -> int:
    """Longest text of a column that needs wrapping, else 0."""
    longest = max((len(row[place].text) for row in table.rows), default=0)
    return longest if longest > LONG and not table.columns[place].numeric else 0


def _letter(column: Column, width: int) -> str:
    if width:
        return f"L{{{_millimetres(width)}mm}}"
    return "r" if column.numeric else "l"


def _millimetres(width: int) -> int:
    return min(80, 18 + width // 2)


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(inline(cell.text) for cell in cells)
