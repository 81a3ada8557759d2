# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page before it has a format: headings, paragraphs, tables, figures, commands.

Text may hold `code`, in backquotes; nothing else is markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from timens_analysis.figures.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    sort: float | str | None = None  # what sorting goes by, where the text would mislead
    mark: str = ""  # "good", "bad", "warn": a hint for the eye, said in the text as well


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    about: str = ""  # shown on pointing, and in the list of columns
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    explain: bool = False  # list what the columns mean below
    grouped: int = 0  # leading columns that print formats leave empty when nothing changes
    parts: tuple[tuple[int, ...], ...] = ()  # columns of each of several tables on narrow paper

    def printed(self) -> Iterator[Sequence[Cell]]:
        """Rows for a page that cannot be sorted: what repeats is left out."""
        before: Sequence[Cell] = ()
        for row in self.rows:
            same = tuple(row[: self.grouped]) == tuple(before[: self.grouped])
            if not same:
                yield row
            elif len(row) > self.grouped:
                yield [Cell("")] * self.grouped + list(row[self.grouped :])
            before = row

    def split(self) -> list[Table]:
        """Itself, or its parts."""
        return [
            Table(
                self.caption if n == 0 else f"{self.caption} (part {n + 1})",
                tuple(self.columns[place] for place in part),
                [[row[place] for place in part] for row in self.rows],
                self.explain,
                sum(place < self.grouped for place in part),
            )
            for n, part in enumerate(self.parts)
        ] or [self]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list; each item is a term and what is said of it ("" for no term)."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Commands:
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Figures:
    """Plots side by side.  `everywhere`: in print formats too, not only on the page."""

    sheets: Sequence[Sheet]
    everywhere: bool = False


Block = Text | Items | Commands | Table | Figures


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: Sequence[Block]
    level: int = 2


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=list)
