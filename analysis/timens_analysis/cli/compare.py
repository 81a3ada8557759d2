# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare runs, hosts or kernels: did a level change, did an effect change, what holds over all.

The first run is what the others are compared to.  Runs whose fingerprints differ (host, kernel,
settings, binary, design) are refused, with the difference, unless --force is given.

With --fail-over P% the exit status is 1 when a level of a later run is significantly slower and
the whole confidence interval of the change lies above P%.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from timens_analysis.cli import options
from timens_analysis.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="A", help="a results folder")
    parser.add_argument("others", type=Path, nargs="+", metavar="B", help="more of them")
    parser.add_argument("--fail-over", type=options.percent, metavar="P%")
    parser.add_argument(
        "--agree", action="store_true", help="exit with 1 when the verdicts of two runs contradict"
    )
    parser.add_argument("--force", action="store_true", help="compare unlike runs as well")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PAGE", help="write .html, .md or .tex as well"
    )
    options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from timens_analysis import runs as cross
    from timens_analysis.cli.report import replace_file
    from timens_analysis.compare import analyse
    from timens_analysis.conclusions import CONTRADICT, conclusions
    from timens_analysis.load import load_run
    from timens_analysis.report import html, latex, markdown, runs_page

    loaded = [load_run(folder) for folder in (args.first, *args.others)]
    differences = {run.name: cross.unlike(loaded[0], run) for run in loaded[1:]}
    if any(differences.values()) and not args.force:
        for name, found in differences.items():
            for d in found:
                print(f"{name}: {d.key}: {d.first} there, {d.other} here", file=sys.stderr)
        unlike = ", ".join(name for name, found in differences.items() if found)
        raise UserError(
            "compare",
            unlike,
            f"measured under other conditions than {loaded[0].name}",
            hint="--force compares all the same; the differences are then part of the page",
        )
    chosen = options.chosen(args)
    analyses = [analyse(run.metrics, chosen, run.problems) for run in loaded]
    changes = cross.changes(loaded, chosen, args.fail_over)
    effects = cross.effects(analyses, chosen)
    command = ["timens-study", "compare", *map(str, (args.first, *args.others))]
    command += ["--force"] * args.force + options.words(chosen)
    command += ["--agree"] * args.agree
    if args.fail_over is not None:
        command += ["--fail-over", f"{args.fail_over:g}%"]
    concluded = conclusions(analyses)
    page = runs_page.document(
        loaded, differences, changes, effects, concluded, args.fail_over, shlex.join(command)
    )
    sys.stdout.write(markdown.render(page))
    if args.output is not None:
        makers = {".html": html.render, ".md": markdown.render, ".tex": latex.render}
        replace_file(args.output, makers.get(args.output.suffix, html.render)(page))
    contradict = args.agree and any(c.together == CONTRADICT for c in concluded)
    return 1 if contradict or any(change.over for change in changes) else 0
