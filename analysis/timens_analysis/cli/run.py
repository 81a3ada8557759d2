# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measure a study from its beginning, then write its report.

Every block enters all arms anew and measures them side by side, in random order, each in a fresh
process.  The records are in DIR/records.jsonl as soon as they are measured: a run that
was stopped, by whatever, goes on with `timens-study resume DIR`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from timens_analysis.cli.progress import Stopped, duration, stoppable, voice
from timens_analysis.study.arms import DEFAULT, KNOWN
from timens_analysis.study.plan import DESIGNS, PROFILES
from timens_analysis.study.session import Wish, new_folder, start


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to measure, where to and how."""
    shown = [p for p in PROFILES.values() if p.name != "smoke"]
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="quick",
        metavar="NAME",
        help="how much: " + ", ".join(f"{p.name} ({p.about})" for p in shown) + " [quick]",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="results folder [results/DATE]")
    parser.add_argument(
        "--arms",
        default=",".join(DEFAULT),
        metavar="NAME,...",
        help="from " + ", ".join(KNOWN) + f" [{','.join(DEFAULT)}]; baseline and its A/A twin are "
        "always there",
    )
    parser.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="an arm of your own: COMMAND runs {bench}, or what is appended to it",
    )
    add_design_arguments(parser)
    parser.add_argument("--no-report", action="store_true", help="measure only")


def add_design_arguments(parser: argparse.ArgumentParser) -> None:
    """What `run` and `aa` have in common."""
    parser.add_argument(
        "--design",
        choices=DESIGNS,
        default="blocks",
        help="blocks, or the paper's level after level for teaching [blocks]",
    )
    parser.add_argument(
        "--metrics",
        default="study",
        metavar="WORD",
        help="study (the paper's 15 and the controls), calls (study without sleeps), paper, all, "
        "or NAME,... [study]",
    )
    parser.add_argument("--blocks", type=_positive, metavar="N", help="in place of the profile's")
    parser.add_argument("--seed", type=int, metavar="N", help="plan this order again")
    parser.add_argument("--cpu", type=int, metavar="N", help="measure on this CPU [the last]")
    parser.add_argument("--no-fifo", action="store_true", help="do not ask for SCHED_FIFO")
    parser.add_argument("--rootfs", type=Path, metavar="DIR", help="a root filesystem of your own")
    parser.add_argument(
        "--rootfs-from",
        choices=("debian", "busybox"),
        help="what to make one from when there is none yet [debian; busybox for a user without "
        "ranges of ids]; with --rootfs, make it there",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def wish(args: argparse.Namespace, output: Path) -> Wish:
    """The command line as data."""
    return Wish(
        profile=args.profile,
        design=args.design,
        arms=tuple(args.arms.split(",")),
        owns=tuple(args.arm),
        metrics=args.metrics,
        output=output,
        rootfs=args.rootfs,
        rootfs_from=args.rootfs_from,
        seed=args.seed,
        blocks=args.blocks,
        replicates=1,
        cpu=args.cpu,
        fifo=not args.no_fifo,
        argv=("timens-study", *sys.argv[1:]),
    )


def run(args: argparse.Namespace) -> int:
    """Measure, then report."""
    folder = args.output or new_folder(args.profile)
    out = voice(quiet=args.quiet)
    began = time.monotonic()
    try:
        with stoppable():
            start(wish(args, folder), out.listeners())
    except Stopped as error:
        return error.tell(folder)
    out.say(f"measured in {duration(time.monotonic() - began)}")
    return 0 if args.no_report else report(folder)


def report(folder: Path) -> int:
    """As `timens-study report DIR` does."""
    from timens_analysis.cli import main

    return main(["report", str(folder)])
