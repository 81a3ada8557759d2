# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plain text as LaTeX."""

from __future__ import annotations

import re

# What pdflatex's fonts need said in words of their own.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "−": r"$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "²": r"$^2$",
    "α": r"$\alpha$",
    "δ": r"$\delta$",
    "ω": r"$\omega$",
    "χ": r"$\chi$",
    "τ": r"$\tau$",
    "µ": r"\textmu{}",
    "–": "--",
    "“": "``",
    "”": "''",
    "<": r"$<$",
    ">": r"$>$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
}
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))


def escape(text: str) -> str:
    known = _SPECIAL.sub(lambda found: SPECIAL[found.group()], text)
    # pdflatex stops at a character it has no font for; a host name may hold any.
    return "".join(c if c.isascii() or (c.isalpha() and ord(c) < 0x180) else "?" for c in known)


def inline(text: str) -> str:
    """Escaped, with `code` in typewriter letters."""
    pieces = re.split(r"`([^`]+)`", text)
    return "".join(
        f"\\texttt{{{escape(piece)}}}" if place % 2 else escape(piece)
        for place, piece in enumerate(pieces)
    )
