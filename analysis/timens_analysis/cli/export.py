# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write a run as files that other tools load: one for each arm, DIR/FORMAT/ARM.json.

    timens-study export results/RUN --format pyperf
    python -m pyperf compare_to results/RUN/pyperf/baseline.json results/RUN/pyperf/timens.json

`google` files are for compare.py of Google Benchmark (Debian: libbenchmark-tools).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from timens_analysis.errors import UserError
from timens_analysis.load import load_environment
from timens_analysis.study.export import FORMATS, collect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which run, which format, where to."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--format", choices=FORMATS, required=True, help="whose JSON")
    parser.add_argument("--output", type=Path, metavar="DIR", help="other than DIR/FORMAT")


def run(args: argparse.Namespace) -> int:
    """Print the name of each file that was written."""
    environment = load_environment(args.folder)
    cells = collect(args.folder, environment["ns_per_tick"])
    output = args.output or args.folder / args.format
    output.mkdir(parents=True, exist_ok=True)
    for arm in (arm["name"] for arm in environment["arms"]):
        if not any(name == arm for name, _ in cells):
            raise UserError("export", arm, "has no records yet")
        path = output / f"{arm}.json"
        path.write_text(json.dumps(FORMATS[args.format](environment, arm, cells)) + "\n")
        print(path)
    return 0
