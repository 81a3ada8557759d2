# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a run is, also while it is measuring."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from timens_analysis.study.session import load_header
from timens_analysis.study.status import of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which run, in which form."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    """Print it; 0 whatever the state is."""
    status = of(args.folder, load_header(args.folder))
    if args.json:
        print(json.dumps(asdict(status), indent=1))
        return 0
    flags = ", ".join(f"{count} {name}" for name, count in sorted(status.flags.items()))
    print(f"{status.run}: {status.state}, {status.cells_done / status.cells:.0%}")
    print(f"profile {status.profile}, design {status.design}, sessions {status.sessions}")
    print(f"{status.cells_done} of {status.cells} cells, {status.records} records")
    print(f"measured again: {status.attempts_again}; flagged: {flags or 'none'}")
    print(f"collector: {status.collector_max_rss_kb / 1024:.0f} MB at most")
    if status.state == "interrupted":
        print(f"hint: timens-study resume {args.folder}")
    return 0
