# SPDX-License-Identifier: LGPL-2.1-or-later
"""Anyone's samples -> model.Metric: JSON, CSV, pyperf, hyperfine, Google Benchmark.

One file of a benchmark tool: its benchmarks are the levels of one metric.  Several files: each
file is a level, and benchmarks of one name are a metric.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timens_analysis.errors import UserError
from timens_analysis.model import Level, Metric, Values

NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
Table = dict[str, dict[str, list[float]]]  # metric -> level -> values

LEVEL_COLUMNS = ("level", "arm", "group")
VALUE_COLUMNS = ("value_ns", "value", "ns")
BLOCK_COLUMNS = ("block", "subject")


def load_samples(paths: Sequence[Path]) -> list[Metric]:
    """Read one or more files of any of the forms; the form is found from the content."""
    if len(paths) == 1:
        return _load_one(paths[0])
    merged: Table = {}
    for path in paths:
        for metric, values in _benchmarks(path).items():
            merged.setdefault(metric, {})[path.stem] = values
    return _metrics(merged)


def _load_one(path: Path) -> list[Metric]:
    if path.suffix.lower() in (".csv", ".tsv"):
        return _from_csv(path)
    content = _json(path)
    if isinstance(content, dict) and "samples" in content:
        return [_from_samples(path, content)]
    return _metrics({"time": _benchmarks(path)})


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError("test", str(path), error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise UserError(
            "test", str(path), f"not JSON: {error}", hint="a file of CSV is named .csv"
        ) from error


def _from_samples(path: Path, content: Mapping[str, Any]) -> Metric:
    """{"samples": {level: [value, ...]}, "levels": [order], "unit": "ns"}; NaN may be null."""
    samples = content["samples"]
    if not isinstance(samples, dict) or not all(isinstance(v, list) for v in samples.values()):
        raise UserError("test", str(path), "'samples' must hold a list of numbers for each level")
    names = content.get("levels", list(samples))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError("test", str(path), "'levels' must be a list of names")
    levels = tuple(
        Level(name, _values(path, f"samples: {name}", samples.get(name, []), _number))
        for name in names
    )
    return Metric(str(content.get("id", path.stem)), levels, unit=str(content.get("unit", "ns")))


def _values(
    path: Path, where: str, raw: Sequence[Any], read: Callable[[Any], float] = float
) -> Values:
    try:
        return np.array([np.nan if x is None else read(x) for x in raw], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError("test", f"{path}: {where}", f"not a number: {error}") from error


def _number(value: Any) -> float:
    """A number of JSON: not true, which Python takes for 1, and not "1"."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(json.dumps(value))
    return float(value)


def _metrics(table: Table) -> list[Metric]:
    """Every metric gets every level, empty where it is missing, so that this can be said."""
    names = list(dict.fromkeys(level for levels in table.values() for level in levels))
    return [
        Metric(metric, tuple(Level(n, np.array(levels.get(n, []), dtype=float)) for n in names))
        for metric, levels in table.items()
    ]


# ---- benchmark tools: name -> one value per process or repetition, in nanoseconds ----


def _benchmarks(path: Path) -> dict[str, list[float]]:
    content = _json(path)
    if isinstance(content, dict):
        for reader in (_pyperf, _hyperfine, _google):
            try:
                found = reader(content)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
                raise UserError("test", str(path), f"damaged: {error!r}") from error
            if found:
                return found
    raise UserError(
        "test",
        str(path),
        "none of the known forms",
        hint='{"samples": {LEVEL: [VALUE...]}}, or JSON of pyperf, hyperfine, Google Benchmark',
    )


def _pyperf(content: Mapping[str, Any]) -> dict[str, list[float]]:
    """Values of one run share a process: their median is one value.  pyperf stores seconds."""
    found: dict[str, list[float]] = {}
    common = content.get("metadata", {})
    for number, benchmark in enumerate(content.get("benchmarks", [])):
        if "runs" not in benchmark:
            return {}
        metadata = {**common, **benchmark.get("metadata", {})}
        for run in benchmark["runs"]:
            name = metadata.get("name", run.get("metadata", {}).get("name", f"benchmark{number}"))
            if run.get("values"):  # a calibration run has none
                value = float(np.median([_number(v) for v in run["values"]])) * NS["s"]
                found.setdefault(str(name), []).append(value)
    return found


def _hyperfine(content: Mapping[str, Any]) -> dict[str, list[float]]:
    """Each command's times; hyperfine stores seconds, one run per process."""
    return {
        str(result["command"]): [_number(t) * NS["s"] for t in result["times"]]
        for result in content.get("results", [])
    }


def _google(content: Mapping[str, Any]) -> dict[str, list[float]]:
    """Repetitions of each benchmark, not the aggregates made of them."""
    found: dict[str, list[float]] = {}
    for row in content.get("benchmarks", []):
        if row.get("run_type", "iteration") == "iteration" and "real_time" in row:
            name = str(row.get("run_name", row["name"]))
            value = _number(row["real_time"]) * NS[row.get("time_unit", "ns")]
            found.setdefault(name, []).append(value)
    return found


# ---- CSV ----

DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the file, counted from 1, the header included."""

    line: int
    cells: Mapping[str, str]


def _from_csv(path: Path) -> list[Metric]:
    """Long (columns level and value, perhaps metric and block) or wide (a column per level)."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            dialect = "excel-tab" if path.suffix.lower() == ".tsv" else "excel"
            reader = csv.DictReader(file, dialect=dialect)
            twice = [name for name, n in Counter(reader.fieldnames).items() if name and n > 1]
            rows = [_Row(reader.line_num, row) for row in reader]
    except OSError as error:
        raise UserError("test", str(path), error.strerror or str(error)) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError("test", str(path), f"not CSV: {error}") from error
    if twice:
        raise UserError("test", str(path), f"column {twice[0]} is there more than once")
    if not rows:
        raise UserError("test", str(path), "no rows below a header line")
    header = [name for name in rows[0].cells if name is not None]
    level = _column(header, LEVEL_COLUMNS)
    if level is None:
        # A level may be shorter than its neighbours: it then has empty cells.
        columns = {n: [row for row in rows if row.cells[n]] for n in header}
        levels = tuple(Level(n, np.array(_numbers(path, r, n))) for n, r in columns.items())
        return [Metric(path.stem, levels)]
    value = _column(header, VALUE_COLUMNS)
    if value is None:
        raise UserError("test", str(path), f"no column of values ({', '.join(VALUE_COLUMNS)})")
    return _from_long(path, rows, level, value, _column(header, BLOCK_COLUMNS))


def _column(header: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in header), None)


def _from_long(
    path: Path, rows: Sequence[_Row], level: str, value: str, block: str | None
) -> list[Metric]:
    found: dict[str, dict[str, list[_Row]]] = {}
    for row in rows:
        metric = row.cells.get("metric") or path.stem
        found.setdefault(metric, {}).setdefault(row.cells[level], []).append(row)
    names = list(dict.fromkeys(name for levels in found.values() for name in levels))

    def make(name: str, mine: list[_Row]) -> Level:
        blocks = None
        if block is not None:
            blocks = np.array(_numbers(path, mine, block, WHOLE, int), dtype=np.int64)
        return Level(name, np.array(_numbers(path, mine, value)), blocks)

    return [
        Metric(metric, tuple(make(name, levels.get(name, [])) for name in names))
        for metric, levels in found.items()
    ]


def _numbers(
    path: Path,
    rows: Sequence[_Row],
    column: str,
    form: re.Pattern[str] = DECIMAL,
    kind: Callable[[str], float] = float,
) -> list[float]:
    """Refuses what Python takes for a number and nobody meant as one: 1_000, nan, infinity."""
    numbers = []
    for row in rows:
        text = (row.cells[column] or "").strip()
        number = kind(text) if form.fullmatch(text) else math.nan
        if not math.isfinite(number):
            raise UserError(
                "test", f"{path}: row {row.line}, column {column}", f"not a number: {text!r}"
            )
        numbers.append(number)
    return numbers
