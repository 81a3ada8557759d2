# SPDX-License-Identifier: LGPL-2.1-or-later
"""A document as LaTeX that pdflatex compiles: booktabs, longtable and TikZ, landscape A4."""

from __future__ import annotations

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
\usepackage{textcomp}
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
LONG = 26


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
            return "\n".join(_table(block))
        case Figures(sheets, everywhere):
            return "\n\n".join(map(tikz.render, sheets)) if everywhere else ""


def _table(table: Table) -> Iterator[str]:
    widths = [_width(table, place) for place in range(len(table.columns))]
    letters = "".join(map(_letter, table.columns, widths))
    heads = " & ".join(f"\\textbf{{{escape(column.title)}}}" for column in table.columns)
    yield f"\\subsection*{{{escape(table.caption)}}}" if table.caption else ""
    yield "{\\fontsize{5.4}{6.6}\\selectfont"
    yield f"\\begin{{longtable}}{{@{{}}{letters}@{{}}}}"
    yield f"\\toprule\n{heads} \\\\\n\\midrule\n\\endhead"
    for row in table.printed():
        yield f"{_row(row)} \\\\"
    yield "\\bottomrule\n\\end{longtable}}"


def _width(table: Table, place: int) -> int:
    """Longest text of a column that needs wrapping, else 0."""
    longest = max((len(row[place].text) for row in table.rows), default=0)
    return longest if longest > LONG and not table.columns[place].numeric else 0


def _letter(column: Column, width: int) -> str:
    if width:
        return f"L{{{min(60, 18 + width // 3)}mm}}"
    return "r" if column.numeric else "l"


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(inline(cell.text) for cell in cells)
