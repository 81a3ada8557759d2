# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cross-check with the paper's instrument, a tracer, and see what the tracer itself does.

The same functions are traced on the host and in a time namespace, in turn.  uftrace reads the
clock in the traced process, with the call that the namespace slows: the empty function, which has
no reason to be slower, shows by how much every other row is the instrument.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from timens_analysis.study.uftrace import cross_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How long."""
    parser.add_argument("--calls", type=int, default=2_000, metavar="N", help="a function [2000]")
    parser.add_argument("--rounds", type=int, default=100, metavar="N", help="of both arms [100]")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    """Trace and print."""

    def on_round(number: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if number == args.rounds else ""
            print(f"\rround {number} of {args.rounds}", end=end, file=sys.stderr, flush=True)

    rows = cross_check(args.calls, args.rounds, on_round)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return 0
    empty = rows[0].difference_ns
    head = ("traced function", "host", "timens", "difference [95 % CI]", "- empty")
    print("{:20} {:>9} {:>9} {:>26} {:>9}".format(*head))
    for row in rows:
        gap = f"{row.difference_ns:+.2f} [{row.low_ns:+.2f}, {row.high_ns:+.2f}]"
        print(
            f"{row.function:20} {row.host_ns:9.2f} {row.timens_ns:9.2f} {gap:>26} "
            f"{row.difference_ns - empty:+9.2f}"
        )
    print("\nns per call; what the empty function shows is the tracer, slowed by the namespace")
    return 0
