# SPDX-License-Identifier: LGPL-2.1-or-later
"""A document as Markdown that also reads well as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from timens_analysis.report.document import (
    Block,
    Cell,
    Commands,
    Document,
    Figures,
    Items,
    Section,
    Table,
    Text,
)


def render(document: Document) -> str:
    parts = [f"# {document.title}", document.lead]
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [text for block in section.blocks if (text := _block(block))]
    # A section of nothing but plots is for the page alone.
    return [f"{'#' * section.level} {section.title}", *blocks] if blocks else []


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"- {f'**{term}:** ' if term else ''}{said}" for term, said in items)
        case Commands(lines):
            return "\n".join(["```sh", *lines, "```"])
        case Table():
            return "\n".join(_table(block))
        case Figures():
            return ""


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield f"{table.caption}\n"
    yield _row([Cell(column.title) for column in table.columns])
    yield "|" + "|".join("--:" if column.numeric else "---" for column in table.columns) + "|"
    for row in table.printed():
        yield _row(row)
    if table.explain:
        yield ""
        for column in table.columns:
            if column.about:
                yield f"- **{column.title}:** {column.about}"


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(cell.text.replace("|", "\\|") for cell in cells) + " |"
