# SPDX-License-Identifier: LGPL-2.1-or-later
"""A document as one self-contained page: style, script and plots inside, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib import resources

from timens_analysis.report import svg
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

MANY = 14  # columns; beyond, print is smaller
LONG = 36  # characters; beyond, a cell may break into lines
# Whatever the text holds, the browser will not load or send anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def render(document: Document) -> str:
    package = resources.files("timens_analysis.report")
    style = package.joinpath("page.css").read_text("utf-8")
    script = package.joinpath("page.js").read_text("utf-8")
    sections = "\n".join(_section(n, section) for n, section in enumerate(document.sections))
    links = "".join(
        f'<a href="#s{n}">{escape(section.title)}</a>'
        for n, section in enumerate(document.sections)
        if section.level == 2
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{escape(document.title)}</h1>\n<p>{_inline(document.lead)}</p>\n"
        f"<nav>{links}</nav>\n{sections}\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _section(number: int, section: Section) -> str:
    body = "\n".join(_block(f"s{number}b{n}", block) for n, block in enumerate(section.blocks))
    h = section.level
    return f'<section>\n<h{h} id="s{number}">{escape(section.title)}</h{h}>\n{body}\n</section>'


def _block(identity: str, block: Block) -> str:
    match block:
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Items(items):
            return f"<ul>{''.join(_item(term, said) for term, said in items)}</ul>"
        case Commands(lines):
            return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
        case Table():
            return _table(block)
        case Figures(sheets):
            plots = "".join(svg.render(s, f"{identity}f{n}") for n, s in enumerate(sheets))
            return f'<div class="plots">{plots}</div>'


def _item(term: str, said: str) -> str:
    head = f"<b>{escape(term)}:</b> " if term else ""
    return f"<li>{head}{_inline(said)}</li>"


def _table(table: Table) -> str:
    head = "".join(
        f'<th scope="col"{_class("n" if c.numeric else "")}'
        f"{f' title={chr(34)}{escape(c.about)}{chr(34)}' if c.about else ''}>"
        f'<button type="button">{escape(c.title)}</button></th>'
        for c in table.columns
    )
    numeric = [column.numeric for column in table.columns]
    rows = "\n".join(f"<tr>{_row(row, numeric)}</tr>" for row in table.rows)
    many = _class("many" if len(numeric) > MANY else "")
    text = (
        f'<div class="wide"><table{many}><caption>{_inline(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )
    if table.explain:
        items = "".join(_item(c.title, c.about) for c in table.columns if c.about)
        text += f"<details><summary>What the columns mean</summary><ul>{items}</ul></details>"
    return text


def _row(row: Sequence[Cell], numeric: Sequence[bool]) -> str:
    cells = []
    for place, (cell, number) in enumerate(zip(row, numeric, strict=True)):
        sort = "" if cell.sort is None else f' data-sort="{escape(str(cell.sort))}"'
        words = "words" if place == 0 and any(map(str.isspace, cell.text)) else ""
        long = "long" if len(cell.text) > LONG and not number else ""
        kind = _class(" ".join(filter(None, ["n" if number else "", cell.mark, long, words])))
        tag = 'th scope="row"' if place == 0 else "td"
        cells.append(f"<{tag}{kind}{sort}>{_inline(cell.text)}</{tag[:2]}>")
    return "".join(cells)


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
