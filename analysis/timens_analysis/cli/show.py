# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print the records of a run, one line each, or one record with all that is known of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from timens_analysis.errors import UserError
from timens_analysis.load import batch_ticks, load_environment
from timens_analysis.study.status import records

COLUMNS = "{:>6} {:>5} {:>3} {:<18} {:<36} {:>12} {:>12} {:>9}  {}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which run and which of its records."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--seq", type=int, metavar="N", help="one record in full, batches in ns")
    parser.add_argument("--arm", metavar="NAME", help="only this arm")
    parser.add_argument("--metric", metavar="NAME", help="only this metric")
    parser.add_argument("--block", type=int, metavar="N", help="only this block")
    parser.add_argument("--flagged", action="store_true", help="only disturbed records")


def run(args: argparse.Namespace) -> int:
    """Print while reading: a run may have ten thousand records."""
    ns_per_tick = load_environment(args.folder)["ns_per_tick"]
    if args.seq is not None:
        return _show_one(args, ns_per_tick)
    names = ("seq", "block", "try", "arm", "metric", "median ns", "p10 ns", "waited", "flags")
    print(COLUMNS.format(*names))
    for record in records(args.folder):
        if _wanted(record, args):
            print(_line(record, ns_per_tick))
    return 0


def _wanted(record: dict[str, Any], args: argparse.Namespace) -> bool:
    return (
        args.arm in (None, record["arm"])
        and args.metric in (None, record["metric"])
        and args.block in (None, record["block"])
        and bool(record["flags"] or not args.flagged)
    )


def _line(record: dict[str, Any], ns_per_tick: float) -> str:
    ns = batch_ticks(record) * ns_per_tick / record["batch"]
    waited = record.get("run_delay_ns", 0) / max(1.0, record["total_ticks"] * ns_per_tick)
    return COLUMNS.format(
        record["seq"],
        record["block"],
        record["attempt"],
        record["arm"],
        record["metric"],
        f"{np.median(ns):.2f}",
        f"{np.percentile(ns, 10):.2f}",
        f"{waited:.1%}",
        ",".join(record["flags"]),
    ).rstrip()


def _show_one(args: argparse.Namespace, ns_per_tick: float) -> int:
    for record in records(args.folder):
        if record["seq"] == args.seq:
            ns = batch_ticks(record) * ns_per_tick / record["batch"]
            whole = {**record, "batch_ns": [round(float(value), 3) for value in ns]}
            del whole["batch_ticks"]
            print(json.dumps(whole, indent=1))
            return 0
    raise UserError("show", f"--seq {args.seq}", "there is no such record")
