# SPDX-License-Identifier: LGPL-2.1-or-later
"""Options that `report`, `test` and `compare` share.  Not a subcommand."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timens_analysis.results import Options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        choices=("auto", "welch", "paper"),
        default="auto",
        help="auto: paired where the design is paired, and Welch with Games-Howell; welch: the"
        " latter alone; paper: Levene decides between Welch with Games-Howell and ANOVA with Tukey",
    )
    parser.add_argument(
        "--levene",
        choices=("median", "mean"),
        default="median",
        help="centre of Levene's test where it decides (default: median)",
    )
    parser.add_argument(
        "--margin",
        type=percent,
        default=1.0,
        metavar="P%",
        help="differences within this are equivalent; fix it before you look (default: 1%%)",
    )
    parser.add_argument(
        "--alpha", type=probability, default=0.05, help="significance level (default: 0.05)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: 0)")


def chosen(args: argparse.Namespace) -> Options:
    from timens_analysis.results import Options

    return Options(args.method, args.levene, args.margin, args.alpha, args.seed)


def percent(text: str) -> float:
    """'5%', '5 %' or '5' -> 5.0"""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage, such as 5%") from None
    if not 0 < value < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0% and 1000%")
    return value


def probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 0.5")
    return value


def words(options: Options) -> list[str]:
    """The options as they would be typed; those at their default are left out."""
    from timens_analysis.results import Options

    default, typed = Options(), []
    for flag, value, usual in (
        ("--method", options.method, default.method),
        ("--levene", options.levene, default.levene),
        ("--margin", f"{options.margin_percent:g}%", f"{default.margin_percent:g}%"),
        ("--alpha", f"{options.alpha:g}", f"{default.alpha:g}"),
        ("--seed", str(options.seed), str(default.seed)),
    ):
        if value != usual:
            typed += [flag, value]
    return typed
