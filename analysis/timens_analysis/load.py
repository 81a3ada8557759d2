# SPDX-License-Identifier: LGPL-2.1-or-later
"""A results folder -> model.Run.  Counter ticks become nanoseconds here and nowhere else."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timens_analysis import neighbours
from timens_analysis.errors import UserError
from timens_analysis.model import Conduct, Integers, Level, Metric, Problem, Run

RECORDS = "records.jsonl"
ENVIRONMENT = "environment.json"
NO_SYSTEM_CALL = ("rdtscp", "rdtsc", "empty_loop")
RECORD_KEYS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("metric", "arm"), str),
    **dict.fromkeys(("seq", "block", "attempt", "batch", "total_ticks"), int),
    "batch_ticks": (dict, list),
    "flags": list,
}
PACKED = "int64le+zlib+base64"

Record = Mapping[str, Any]
Key = tuple[str, str, int]  # metric, arm, block


def load_run(folder: Path, blocks: range | None = None) -> Run:
    """Read records.jsonl and environment.json of a results folder, all blocks or some.

    A last line that was cut off by a kill or a full disk is left out and said so; any other
    damage is refused with its line number.
    """
    environment = load_environment(folder)
    records, cut_off = read_records(folder / RECORDS)
    if blocks is not None:
        records = [record for record in records if record["block"] in blocks]
    elif not records:
        raise UserError(
            "run",
            str(folder / RECORDS),
            "no records",
            hint=f"timens-study resume {folder} measures them",
        )
    cells, beside = _blocks(_last_attempts(records), environment)
    metrics, problems = [], []
    for plan in environment["metrics"]:
        metric, found = _metric(plan, environment, cells, beside.get(plan["name"], {}))
        problems += found
        if metric is not None:
            metrics.append(metric)
    conduct = _conduct(records, environment, cells, cut_off)
    return Run(folder, environment, tuple(metrics), conduct, tuple(problems))


def load_environment(folder: Path) -> dict[str, Any]:
    """environment.json as a dictionary, with the parts that the analysis needs checked."""
    path = folder / ENVIRONMENT
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            "run", str(path), error.strerror or str(error), hint="a results folder holds this file"
        ) from error
    except ValueError as error:
        raise UserError("run", str(path), f"not JSON: {error}") from error
    if not isinstance(environment, dict) or environment.get("schema") != "timens-environment/1":
        raise UserError("run", str(path), "the schema is not timens-environment/1")
    for key in ("run", "ns_per_tick", "arms", "metrics", "blocks", "seed", "argv"):
        if key not in environment:
            raise UserError("run", str(path), f"'{key}' is missing")
    return environment


def read_records(path: Path) -> tuple[list[Record], bool]:
    """All records in the order of writing, and whether the last line was cut off."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError("run", str(path), error.strerror or str(error)) from error
    unfinished = lines.pop()
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        records.append(parse_record(line, f"{path}: line {number}"))
    return records, bool(unfinished)


def parse_record(line: bytes, where: str) -> dict[str, Any]:
    """One line of records.jsonl, with what tells the records of a run apart checked."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError("run", where, f"not JSON: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != "timens-record/1":
        raise UserError("run", where, "the schema is not timens-record/1")
    for key, kind in RECORD_KEYS.items():
        if not isinstance(record.get(key), kind):
            raise UserError("run", where, f"'{key}' is missing or wrong")
    return record


def batch_ticks(record: Record) -> Integers:
    """Ticks of each batch, from either form that the schema allows."""
    ticks = record["batch_ticks"]
    if isinstance(ticks, list):
        return np.array(ticks, dtype=np.int64)
    try:
        if ticks["encoding"] != PACKED:
            raise ValueError(f"encoding {ticks['encoding']!r} is unknown")
        unpacked = np.frombuffer(zlib.decompress(base64.b64decode(ticks["data"])), dtype="<i8")
        if unpacked.size != ticks["count"]:
            raise ValueError(f"{unpacked.size} batches where {ticks['count']} were announced")
    except (ValueError, KeyError, zlib.error, binascii.Error) as error:
        where = f"{record['metric']}, {record['arm']}, block {record['block']}"
        raise UserError("run", where, f"batch_ticks: {error}") from error
    return unpacked.astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Cell:
    """One process and metric: what is left of its batches."""

    median_ticks: float  # per batch
    batch: int
    step_ticks: int  # greatest common divisor of the batches: the counter's granularity
    requested_ns: int
    seq: int

    @classmethod
    def of(cls, record: Record, ticks: Integers) -> _Cell:
        try:
            return cls(
                median_ticks=float(np.median(ticks)),
                batch=int(record["batch"]),
                step_ticks=int(np.gcd.reduce(ticks)),
                requested_ns=int(record.get("requested_ns", 0)),
                seq=int(record["seq"]),
            )
        except (KeyError, TypeError) as error:
            raise UserError(
                "run", f"record {record.get('seq', '?')}", f"missing or wrong: {error}"
            ) from error

    def nanoseconds(self, ns_per_tick: float) -> float:
        """Per call; of a sleep, only what went beyond the request."""
        return self.median_ticks * ns_per_tick / self.batch - self.requested_ns


Beside = dict[str, dict[tuple[str, str], dict[int, float]]]  # metric, pair, block -> ns


def _blocks(
    records: Mapping[Key, Record], environment: Mapping[str, Any]
) -> tuple[dict[Key, _Cell], Beside]:
    """Block by block, so that the batches of one block alone are in memory."""
    by_block: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for (metric, _, block), record in records.items():
        by_block[metric, block].append(record)
    cells: dict[Key, _Cell] = {}
    beside: Beside = defaultdict(lambda: defaultdict(dict))
    for (metric, block), found in by_block.items():
        ticks = {record["arm"]: batch_ticks(record) for record in found}
        for record in found:
            cells[metric, record["arm"], block] = _Cell.of(record, ticks[record["arm"]])
        per_call = environment["ns_per_tick"] / found[0]["batch"]
        for pair, gap in neighbours.differences(found, ticks).items():
            beside[metric][pair][block] = gap * per_call
    return cells, beside


def _last_attempts(records: Iterable[Record]) -> dict[Key, Record]:
    """A disturbed record is measured again; all are kept in the file, the last one counts."""
    return {(r["metric"], r["arm"], r["block"]): r for r in records}


def _metric(
    plan: Mapping[str, Any],
    environment: Mapping[str, Any],
    cells: Mapping[Key, _Cell],
    beside: Mapping[tuple[str, str], Mapping[int, float]],
) -> tuple[Metric | None, list[Problem]]:
    name = plan["name"]
    by_arm: dict[str, dict[int, _Cell]] = defaultdict(dict)
    for (measured, arm, block), cell in cells.items():
        if measured == name:
            by_arm[arm][block] = cell
    if not by_arm:
        return None, [Problem(name, None, "no records")]
    levels, aa, problems = [], None, []
    for arm in sorted(environment["arms"], key=lambda arm: arm["role"] != "baseline"):
        if arm["name"] not in by_arm:
            problems.append(Problem(name, arm["name"], "no records"))
            continue
        level = _level(arm["name"], by_arm[arm["name"]], environment)
        if arm["role"] == "aa":
            aa = level
        else:
            levels.append(level)
    all_cells = [cell for blocks in by_arm.values() for cell in blocks.values()]
    step = int(np.gcd.reduce([cell.step_ticks for cell in all_cells]))
    metric = Metric(
        name=name,
        levels=tuple(levels),
        aa=aa,
        base=float(all_cells[0].requested_ns),
        resolution=step * environment["ns_per_tick"] / all_cells[0].batch,
        control=plan.get("control"),
        control_not_in=_filtered_arms(environment) if name not in NO_SYSTEM_CALL else frozenset(),
        neighbours=beside if environment.get("design") == "blocks" else {},
    )
    return metric, problems


def _filtered_arms(environment: Mapping[str, Any]) -> frozenset[str]:
    """Arms with a seccomp filter that the baseline has not: it slows every system call."""
    modes = {arm["name"]: arm.get("seccomp_mode", 0) for arm in environment["arms"]}
    baseline = next((a["name"] for a in environment["arms"] if a["role"] == "baseline"), None)
    return frozenset(name for name, mode in modes.items() if mode != modes.get(baseline, 0))


def _level(name: str, cells: Mapping[int, _Cell], environment: Mapping[str, Any]) -> Level:
    ordered = sorted(cells)
    ns_per_tick = float(environment["ns_per_tick"])
    # Measured level after level, records of the same number have nothing in common.
    paired = environment.get("design") == "blocks"
    return Level(
        name=name,
        values=np.array([cells[b].nanoseconds(ns_per_tick) for b in ordered]),
        blocks=np.array(ordered, dtype=np.int64) if paired else None,
        order=np.array([cells[b].seq for b in ordered], dtype=np.int64),
    )


def _conduct(
    records: list[Record],
    environment: Mapping[str, Any],
    cells: Mapping[Key, _Cell],
    cut_off: bool,
) -> Conduct:
    wanted = len(environment["arms"]) * len(environment["metrics"])
    per_block = Counter(block for _, _, block in cells)
    return Conduct(
        records=len(records),
        remeasured=len(records) - len(cells),
        flags=Counter(flag for record in records for flag in record["flags"]),
        blocks_planned=int(environment["blocks"]),
        blocks_complete=sum(count == wanted for count in per_block.values()),
        cut_off=cut_off,
    )
