# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often the chosen design calls two equal arms different on this host.

Measures the host against itself in replicates of a whole study and tests each as a real effect
would be tested.  A sound design is wrong in about 5 % of the comparisons, whatever the load; the
paper's order (--design sequential) is not.  With DIR, a run that was measured before is evaluated.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

from timens_analysis.cli.progress import Stopped, stoppable, voice
from timens_analysis.cli.run import add_design_arguments
from timens_analysis.errors import UserError
from timens_analysis.study.arms import ALWAYS
from timens_analysis.study.plan import PROFILES
from timens_analysis.study.session import Wish, new_folder, start

CALL_METRICS = 17  # of `--metrics calls` on x86-64 and arm64 alike


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many comparisons of which design."""
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="evaluate this run")
    parser.add_argument(
        "--comparisons", type=int, default=300, metavar="N", help="at least so many [300]"
    )
    parser.add_argument("--profile", choices=PROFILES, default="quick", metavar="NAME")
    parser.add_argument("--output", type=Path, metavar="DIR", help="results folder")
    parser.add_argument("--json", action="store_true", help="the outcome for programs")
    add_design_arguments(parser)
    parser.set_defaults(metrics="calls")


def wish(args: argparse.Namespace, output: Path) -> Wish:
    """A run of the host against itself."""
    named = args.metrics.count(",") + 1
    metrics = CALL_METRICS if args.metrics == "calls" else named
    return Wish(
        profile=args.profile,
        design=args.design,
        arms=ALWAYS,
        owns=(),
        metrics=args.metrics,
        output=output,
        rootfs=args.rootfs,
        rootfs_from=args.rootfs_from,
        seed=args.seed,
        blocks=args.blocks,
        replicates=math.ceil(args.comparisons / metrics),
        cpu=args.cpu,
        fifo=not args.no_fifo,
        argv=("timens-study", *sys.argv[1:]),
    )


def run(args: argparse.Namespace) -> int:
    """Measure, evaluate, print."""
    folder = args.folder or args.output or new_folder("aa")
    if args.folder is None:
        try:
            with stoppable():
                start(wish(args, folder), voice(quiet=args.quiet).listeners())
        except Stopped as error:
            return error.tell(folder)
    return _evaluate(folder, as_json=args.json)


def _evaluate(folder: Path, *, as_json: bool) -> int:
    from timens_analysis.load import load_run
    from timens_analysis.study.aa import evaluate

    run = load_run(folder)
    if not any(metric.aa for metric in run.metrics):
        raise UserError("aa", str(folder), "holds no A/A arm")
    outcome = evaluate(run)
    (folder / "aa.json").write_text(json.dumps(asdict(outcome), indent=1) + "\n")
    if as_json:
        print(json.dumps(asdict(outcome), indent=1))
        return 0
    print(
        f"{outcome.design}: {outcome.replicates} replicates of {outcome.blocks} blocks; "
        f"differences found between equal arms at {outcome.alpha:.0%}:"
    )
    for rate in outcome.rates:
        print(
            f"  {rate.test:30} {rate.positives:4} of {rate.comparisons:4} = {rate.share:5.1%} "
            f"[{rate.low:.1%}, {rate.high:.1%}]"
        )
    print(f"\n{'how large they look':38} {'median':>9} {'95 % of them below':>20}")
    for phantom in outcome.phantoms:
        print(f"  {phantom.metric:36} {phantom.median_percent:8.3f}% {phantom.p95_percent:19.3f}%")
    return 0
