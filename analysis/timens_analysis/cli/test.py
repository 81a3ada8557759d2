# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests of the report for anyone's samples.

FILE is JSON ({"samples": {LEVEL: [VALUE...]}}), CSV (columns level and value, perhaps metric and
block; or a column for each level), or JSON of pyperf, hyperfine or Google Benchmark.  The first
level is what the others are compared to.  Several files of a benchmark tool are levels of the
benchmarks that they share.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from timens_analysis.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything, in full precision")
    form.add_argument("--csv", action="store_true", help="a row per pair, in full precision")
    options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    # numpy and scipy are imported only here: `test --help` must not wait for them.
    from timens_analysis import compare, inputs
    from timens_analysis.report import build, machine, markdown

    analysis = compare.analyse(inputs.load_samples(args.files), options.chosen(args))
    if args.json:
        whole = machine.analysis_dict(analysis)
        if len(analysis.metrics) == 1:  # flat, as the reference checker wants it
            whole = {
                **whole["metrics"][0],
                "options": whole["options"],
                "problems": whole["problems"],
            }
        json.dump(whole, sys.stdout, indent=1, allow_nan=False)
        print()
    elif args.csv:
        sys.stdout.write(machine.csv_text(analysis))
    else:
        sys.stdout.write(markdown.render(build.samples_document(analysis, args.files)))
    for problem in analysis.problems:
        print(f"timens-study: test: {problem}", file=sys.stderr)
    tested = any(pair.paired or pair.independent for m in analysis.metrics for pair in m.pairs)
    gated = any(result.gate for result in analysis.metrics)
    return 0 if tested or gated else 1
