# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results folder of the lab: NAME.jsonl for each experiment, and the studies beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.lab.data import Data, Row
from timens_analysis.load import load_run

SCHEMA = "timens-lab/1"


def make(folder: Path) -> None:
    """Before anything is changed or measured for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError("lab", str(folder), problem.strerror or str(problem)) from problem


def write(folder: Path, name: str, about: Mapping[str, Any], rows: Iterable[Row]) -> None:
    """Whole or not at all; an experiment that is done again replaces the one before."""
    lines = [json.dumps({"schema": SCHEMA, "experiment": name, **about})]
    lines += [json.dumps(row) for row in rows]
    temporary = folder / f".{name}.new"
    make(folder)
    try:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temporary.rename(folder / f"{name}.jsonl")
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise UserError("lab", str(folder), problem.strerror or str(problem)) from problem


def load(folder: Path, name: str) -> Data | None:
    """One experiment with its studies; None when it was not done."""
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return None
    try:
        about, *rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as problem:
        raise UserError("lab", str(path), f"cannot be read: {problem}") from problem
    if about.get("schema") != SCHEMA:
        raise UserError("lab", str(path), f"the schema is not {SCHEMA}")
    runs = {key: load_run(folder / where) for key, where in about.get("studies", {}).items()}
    return Data(about, rows, runs)
