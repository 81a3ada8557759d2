# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the experiments of the articles again, on this machine.

  vdso-used    which readings of the time stay in user space; after -- a command to watch
  loops        millions of gettimeofday through the vDSO, by system call, and coarse
  clocksource  every clock with every clock source; needs --switch-clock-source
  warp         whether a clock goes backwards from one CPU to another
  tsc-clock    a clock of one's own on rdtsc: calibration, cost, error
  anatomy      what a container costs, piece by piece
  all          these; clocksource only when it is asked for
  page         write the page of --output again, from what was measured

Each writes its records to DIR/NAME.jsonl and DIR/lab.html, lab.md from all that is in DIR.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from timens_analysis.errors import UserError

if TYPE_CHECKING:
    from timens_analysis.lab.measure import Job

NAMES = ("vdso-used", "loops", "clocksource", "warp", "tsc-clock", "anatomy")
USAGE_ERROR = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which experiment, how much of it, and where to."""
    parser.add_argument("name", metavar="NAME", choices=(*NAMES, "all", "page"))
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder [results/lab-DATE]")
    parser.add_argument(
        "--quick", action="store_true", help="a first look: small counts, wide intervals"
    )
    parser.add_argument(
        "--switch-clock-source",
        action="store_true",
        help="let clocksource switch the clock of the whole host, in turn and back",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument(
        "command", nargs="*", metavar="-- COMMAND", help="for vdso-used: watch this command"
    )


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """What is behind -- is a command; argparse itself takes it for one only right behind NAME."""
    cut = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:cut])
    args.command = [*args.command, *words[cut + 1 :]]
    return args


def run(args: argparse.Namespace) -> int:
    """Measure, print, and write the page."""
    if args.command:
        if args.name != "vdso-used":
            raise UserError(
                "lab", args.name, "takes no command", hint="only vdso-used", status=USAGE_ERROR
            )
        return watch(args.command)
    if args.name == "clocksource" and not args.switch_clock_source:
        raise UserError(
            "lab",
            "clocksource",
            "switches the clock of the whole host, and was not allowed to",
            hint="timens-study lab clocksource --switch-clock-source",
            status=USAGE_ERROR,
        )
    if args.name == "clocksource" or args.switch_clock_source:
        from timens_analysis.lab import clock_switch

        clock_switch.refuse_unless_possible()
    if args.name == "page" and args.output is None:
        raise UserError("lab", "page", "--output DIR is missing", status=USAGE_ERROR)
    output = args.output or Path("results") / time.strftime("lab-%Y%m%d-%H%M%S")
    return _measure(args, output) if args.name != "page" else write_page(output, NAMES)


def _measure(args: argparse.Namespace, output: Path) -> int:
    from timens_analysis.cli.progress import Stopped, stoppable, voice
    from timens_analysis.lab import measure

    job = measure.Job(
        output=output,
        size=measure.QUICK if args.quick else measure.FULL,
        listen=voice(quiet=args.quiet).listeners(),
        warn=_warn,
        argv=("timens-study", *sys.argv[1:]),
    )
    names = [args.name]
    if args.name == "all":
        names = [n for n in NAMES if n != "clocksource" or args.switch_clock_source]
    try:
        with stoppable():
            for name in names:
                job.listen.say(f"lab: {name}")
                _one(job, name, alone=args.name != "all")
    except Stopped as stopped:
        _warn(f"timens-study: signal {stopped.number}: {output}: what was finished is kept")
        return 128 + stopped.number
    return write_page(output, names)


def _one(job: Job, name: str, *, alone: bool) -> None:
    """Among others an experiment that this machine refuses is a line of the page, no failure."""
    from timens_analysis.lab import measure

    try:
        measure.EXPERIMENTS[name](job)
    except UserError as error:
        if alone:
            raise
        _warn(f"timens-study: {error}")
        measure.write_refusal(job, name, error)


def write_page(output: Path, names: tuple[str, ...] | list[str]) -> int:
    """Prints what was asked for, as text, and writes the page of all that is in the folder."""
    from timens_analysis.cli.report import replace_file
    from timens_analysis.lab import folder, page
    from timens_analysis.report import html, markdown
    from timens_analysis.report.document import Document

    found = {name: folder.load(output, name) for name in NAMES}
    measured = [data for data in found.values() if data is not None]
    if not measured:
        raise UserError("lab", str(output), "there is no experiment in it")
    about = measured[-1].host
    whole = page.document(found, about)
    if len(names) == 1:
        alone = page.section(names[0], found[names[0]], about)
        print(markdown.render(Document(page.TITLE, "", [alone])))
    for file, text in (("lab.md", markdown.render(whole)), ("lab.html", html.render(whole))):
        print(f"written: {replace_file(output / file, text)}")
    return 0


def watch(command: list[str]) -> int:
    """Counts the readings of a command that entered the kernel; its exit status is ours."""
    from timens_analysis.lab import measure, vdso_used
    from timens_analysis.lab.data import Data
    from timens_analysis.report import markdown
    from timens_analysis.report.document import Document
    from timens_analysis.study.programs import find

    find("timens-bench")
    probe = Data({}, measure.bench("vdso-used"))
    status, tallies = measure.watch(command)
    if status in (126, 127) and not tallies:
        return status
    _warn("timens-study: lab: the command is run once more, with strace, to confirm")
    confirmed: dict[str, int] | str
    try:
        confirmed, _ = measure.strace(command, stdout=subprocess.DEVNULL)
    except UserError as error:
        confirmed = f"{error.obj}: {error.cause} ({error.hint})"
    section = vdso_used.command_section(shlex.join(command), probe, tallies, confirmed)
    # Standard output is the command's.
    _warn(markdown.render(Document("Readings of the time", "", [section])))
    return status


def _warn(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
