# SPDX-License-Identifier: LGPL-2.1-or-later
"""Go on with a run that was interrupted, as its header says, then write its report.

What is complete stays; a block that was cut in two is measured again as a whole, because its arms
belong side by side in time (the earlier records stay in the file as first attempts).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from timens_analysis.cli.progress import Stopped, stoppable, voice
from timens_analysis.cli.run import report
from timens_analysis.study.session import resume


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which run."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--no-report", action="store_true", help="measure only")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, then report."""
    out = voice(quiet=args.quiet)
    try:
        with stoppable():
            resume(args.folder, out.listeners())
    except Stopped as error:
        return error.tell(args.folder)
    return 0 if args.no_report else report(args.folder)
