# SPDX-License-Identifier: LGPL-2.1-or-later
"""A published table of levels, an omnibus test and pairs: CSV -> cells as they were printed.

One row per level; the omnibus test stands in one row of its metric, a pair in any row:

    metric,test,df1,df2,F,p,level,n,mean,sd,i_level,j_level,diff,significant,diff_p,ci_lower,ci_upper
"""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from timens_analysis.errors import UserError

# What can be squared twice, as the degrees of freedom are, and is a number still.
LARGEST = 1e60
LONGEST_N = 15
COLUMNS = {"metric", "level", "n", "mean", "sd"}
_NUMBER = re.compile(r"^([<>]?)\s*(-?\d+(?:\.(\d*))?)(?:[eE]([+-]?\d+))?$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed number: its value, and how far the true one may be from it."""

    text: str
    value: float
    half: float  # half of the last printed digit
    bound: str = ""  # "<" or ">": the number is a bound

    def holds(self, low: float, high: float) -> bool:
        """Whether some number between low and high could have been printed so."""
        slack = 1e-9 * max(abs(self.value), self.half)
        if self.bound == "<":
            return low < self.value
        if self.bound == ">":
            return high > self.value
        return low - self.half - slack <= self.value <= high + self.half + slack


@dataclass(frozen=True, slots=True)
class PrintedLevel:
    name: str
    n: int
    mean: Cell
    sd: Cell


@dataclass(frozen=True, slots=True)
class PrintedTest:
    name: str  # "Welch", "ANOVA", or "" where the table does not say
    df1: Cell | None
    df2: Cell | None
    f: Cell | None
    p: Cell | None


@dataclass(frozen=True, slots=True)
class PrintedPair:
    i: str
    j: str
    diff: Cell | None
    significant: bool | None
    p: Cell | None
    low: Cell | None
    high: Cell | None


@dataclass(frozen=True, slots=True)
class PrintedMetric:
    name: str
    levels: tuple[PrintedLevel, ...]
    test: PrintedTest
    pairs: tuple[PrintedPair, ...]

    def pair(self, i: str, j: str) -> PrintedPair | None:
        return next((pair for pair in self.pairs if (pair.i, pair.j) == (i, j)), None)


def table_iv() -> tuple[PrintedMetric, ...]:
    """The paper's Table IV, which ships with the package."""
    text = resources.files("timens_analysis.paper").joinpath("table4.csv").read_text("utf-8")
    return _parse(text, "Table IV")


def read_table(path: Path) -> tuple[PrintedMetric, ...]:
    """A table of the user's."""
    try:
        return _parse(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise UserError("audit", str(path), error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UserError("audit", str(path), "not text in UTF-8") from error


def _parse(text: str, source: str) -> tuple[PrintedMetric, ...]:
    reader = csv.DictReader(io.StringIO(text))
    missing = COLUMNS - set(reader.fieldnames or ())
    if missing:
        raise UserError(
            "audit",
            source,
            f"columns are missing: {', '.join(sorted(missing))}",
            hint="timens-study(1), REPORTS, lists the columns",
        )
    groups: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for line, row in enumerate(reader, start=2):
        cells = {k: (v or "").strip() for k, v in row.items() if k is not None}
        groups.setdefault(cells["metric"], []).append((line, cells))
    if not groups:
        raise UserError("audit", source, "no rows below the header line")
    return tuple(_metric(name, rows, source) for name, rows in groups.items())


def _metric(name: str, rows: list[tuple[int, dict[str, str]]], source: str) -> PrintedMetric:
    levels, pairs = [], []
    test = PrintedTest("", None, None, None, None)
    for line, row in rows:
        where = f"{source}: line {line}"

        def cell(column: str, row: dict[str, str] = row, where: str = where) -> Cell | None:
            return parse_cell(row.get(column, ""), f"{where}: {column}")

        if row.get("level"):
            levels.append(_level(row, where))
        if row.get("df2") or row.get("F"):
            test = PrintedTest(row.get("test", ""), cell("df1"), cell("df2"), cell("F"), cell("p"))
        if row.get("i_level"):
            marked = {"yes": True, "true": True, "no": False, "false": False}
            pairs.append(
                PrintedPair(
                    row["i_level"],
                    row.get("j_level", ""),
                    cell("diff"),
                    marked.get(row.get("significant", "").lower()),
                    cell("diff_p"),
                    cell("ci_lower"),
                    cell("ci_upper"),
                )
            )
    if len(levels) < 2:
        raise UserError("audit", f"{source}: {name}", "fewer than two levels: nothing to compare")
    names = {level.name for level in levels}
    for pair in pairs:
        if not {pair.i, pair.j} <= names:
            raise UserError(
                "audit", f"{source}: {name}", f"pair {pair.i} - {pair.j} names an unknown level"
            )
    return PrintedMetric(name, tuple(levels), test, tuple(pairs))


def _level(row: dict[str, str], where: str) -> PrintedLevel:
    mean, sd = parse_cell(row["mean"], f"{where}: mean"), parse_cell(row["sd"], f"{where}: sd")
    if mean is None or sd is None or not row["n"].isdecimal():
        raise UserError("audit", where, "a level needs n, mean and sd")
    if len(row["n"]) > LONGEST_N:
        raise UserError("audit", where, f"n: more than {LONGEST_N} digits")
    if int(row["n"]) < 2 or sd.value <= 1 / LARGEST:
        raise UserError("audit", where, "a level needs n > 1 and sd > 0: there is no test else")
    return PrintedLevel(row["level"], int(row["n"]), mean, sd)


def parse_cell(text: str, where: str) -> Cell | None:
    """ "5.61E+06" -> 5.61e6 +- 5e3; "<0.001" is a bound; an empty cell is None."""
    if not text:
        return None
    found = _NUMBER.match(text.replace("−", "-"))
    if found is None:
        raise UserError("audit", where, f"{text!r} is not a number")
    bound, mantissa, decimals, exponent = found.groups()
    value = float(f"{mantissa}e{exponent or 0}")
    try:
        half = 0.5 * 10.0 ** (int(exponent or 0) - len(decimals or ""))
    except (OverflowError, ValueError):  # beyond a float, or beyond what int() reads
        half = math.inf
    if max(abs(value), half) > LARGEST:
        raise UserError("audit", where, f"{text!r} is larger than {LARGEST:g}")
    return Cell(text, value, half, bound)
