# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page that shows what was measured; each benchmark fills its own part of it."""

from pathlib import Path

PERFORMANCE = Path(__file__).resolve().parents[2] / "docs/performance.md"


def fill(maker: str, text: str) -> None:
    """Puts text between the lines "made by MAKER: begin" and "... end" of the page."""
    begin, end = (f"<!-- made by {maker}: {which} -->\n" for which in ("begin", "end"))
    before, rest = PERFORMANCE.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    PERFORMANCE.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")
