# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recompute a published table from its n, means and SDs, and find every cell that does not follow.

Without TABLE.csv it is Table IV of the paper, which ships with timens-study.  The columns are
metric, test, df1, df2, F, p, level, n, mean, sd, i_level, j_level, diff, significant, diff_p,
ci_lower and ci_upper, as printed (only metric, level, n, mean and sd are needed): a row for each
level, the test in one row of its metric, a pair in any.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from timens_analysis.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", nargs="?", type=Path, metavar="TABLE.csv")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("audit.html"),
        metavar="PAGE",
        help="where the page goes; .md and .tex make Markdown and LaTeX (default: audit.html)",
    )
    parser.add_argument(
        "--claim",
        type=options.percent,
        metavar="P%",
        help="check the claim that no level costs this much more than the first",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit status 1 when something does not follow"
    )


def run(args: argparse.Namespace) -> int:
    from timens_analysis.cli.report import replace_file
    from timens_analysis.paper import audit, errata, published
    from timens_analysis.report import audit_page, html, latex, markdown

    source = "the paper's Table IV" if args.table is None else args.table.name
    tables = published.table_iv() if args.table is None else published.read_table(args.table)
    audits = [audit.audit_metric(metric) for metric in tables]
    found = errata.of_the_paper(audits) if args.table is None else []
    if args.claim is not None:
        found = [*filter(None, [errata.headline(audits, args.claim)]), *found]
    for line in audit_page.lines(source, audits, found):
        print(line)
    command = " ".join(["timens-study audit", *([str(args.table)] if args.table else [])])
    page = audit_page.document(source, audits, found, command)
    renderer = {".md": markdown.render, ".tex": latex.render}.get(args.output.suffix, html.render)
    print(f"written: {replace_file(args.output, renderer(page))}")
    clean = all(a.agrees for a in audits) and not found
    return 0 if clean or not args.check else 1
