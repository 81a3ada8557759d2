# SPDX-License-Identifier: LGPL-2.1-or-later
"""Analyse a run and write report.html, .md, .tex, .csv, .json, values.csv and
differences.csv beside its records.

The records are read and never changed; a report that exists is replaced.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from timens_analysis.cli import options
from timens_analysis.errors import UserError

if TYPE_CHECKING:
    from timens_analysis.results import Options

FORMATS = ("html", "md", "tex", "csv", "json", "values", "differences")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument(
        "--formats",
        type=_formats,
        default=FORMATS,
        metavar="LIST",
        help=f"some of {','.join(FORMATS)} (default: all)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write here (default: into the run)"
    )
    options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    written = write_report(
        args.run, chosen=options.chosen(args), formats=args.formats, output=args.output
    )
    for path in written:
        print(path)
    return 0


def write_report(
    run_dir: Path,
    *,
    chosen: Options | None = None,
    formats: tuple[str, ...] = FORMATS,
    output: Path | None = None,
) -> list[Path]:
    """Analyse the records of `run_dir` and write the report; returns the files.

    All pages are made before the first is written, and each replaces its predecessor at once.
    """
    from timens_analysis.compare import analyse
    from timens_analysis.load import load_run
    from timens_analysis.report import build, html, latex, machine, markdown
    from timens_analysis.results import Options

    chosen = chosen or Options()
    loaded = load_run(run_dir)
    analysis = analyse(loaded.metrics, chosen, loaded.problems)
    command = ["timens-study", "report", str(run_dir), *options.words(chosen)]
    document = build.run_document(loaded, analysis, command)
    makers: dict[str, tuple[str, Callable[[], str]]] = {
        "html": ("report.html", lambda: html.render(document)),
        "md": ("report.md", lambda: markdown.render(document)),
        "tex": ("report.tex", lambda: latex.render(document)),
        "csv": ("report.csv", lambda: machine.csv_text(analysis)),
        "json": (
            "report.json",
            lambda: json.dumps(machine.analysis_dict(analysis), indent=1, allow_nan=False) + "\n",
        ),
        "values": ("values.csv", lambda: machine.values_csv(analysis.metrics)),
        "differences": ("differences.csv", lambda: machine.differences_csv(analysis.metrics)),
    }
    made = {name: make() for name, make in (makers[wanted] for wanted in formats)}
    return [replace_file((output or run_dir) / name, content) for name, content in made.items()]


def replace_file(path: Path, content: str) -> Path:
    """Write beside, then rename: a reader sees the old page or the new one, never a half."""
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(content, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserError("report", str(path), error.strerror or str(error)) from error
    return path


def _formats(words: str) -> tuple[str, ...]:
    chosen = tuple(words.split(","))
    for word in chosen:
        if word not in FORMATS:
            raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(FORMATS)}")
    return chosen
