# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-study`: the only layer that prints, writes reports or exits.

Each subcommand is a module of this package with `add_arguments(parser)` and `run(args) -> int`.
It is imported only when it is called: `--help` must not wait for numpy and scipy.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from timens_analysis import __version__
from timens_analysis.errors import UserError

PROGRAM = "timens-study"

COMMANDS = {
    "run": "measure in randomised blocks, then write the report",
    "resume": "go on with a run that was interrupted",
    "status": "how far a run is",
    "doctor": "look for what would spoil a measurement here",
    "aa": "how often this design calls equal arms different on this host",
    "show": "print the records of a run",
    "export": "write a run as pyperf or Google Benchmark JSON",
    "report": "analyse a run and write its tables and plots",
    "compare": "compare runs, hosts or kernels",
    "test": "the same tests for anyone's samples",
    "audit": "recompute a published table from its n, means and SDs",
    "uftrace": "cross-check with a tracer, and see what the tracer costs",
    "lab": "experiments on time calls that are not part of the study",
}

USAGE_ERROR = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit status and prints an error at most once."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            return _run(words)
        finally:
            print(end="", flush=True)  # what cannot be written is an error here, not later
    except UserError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has gone
        _give_stdout_up()
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{PROGRAM}: {where}{error.strerror or error}", file=sys.stderr)
        _give_stdout_up()
        return 1


def _run(words: Sequence[str]) -> int:
    args = _overview().parse_args(words[:1])
    module = importlib.import_module(f"{__name__}.{args.command}")
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} {args.command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    parse = getattr(module, "parse", argparse.ArgumentParser.parse_args)
    return int(module.run(parse(parser, words[1:])))


def _give_stdout_up() -> None:
    """Where stdout takes nothing more, Python would complain again when it closes it."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _overview() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    more = f"`{PROGRAM} COMMAND --help` tells more.  See timens-study(1)."
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [ARG...]",
        description="What virtual time costs on this machine: measure, analyse, report.",
        epilog="\n".join(["commands:", *lines, "", more]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help=argparse.SUPPRESS)
    return parser
