# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run in the words of other tools: pyperf JSON and Google Benchmark JSON.

Both know nothing of arms: each arm becomes a file of its own, with the same benchmark names in all
of them, which is what `pyperf compare_to` and Google's compare.py put side by side.  Both take
every value for an independent one, so a value is one process here, never one batch.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timens_analysis.load import batch_ticks
from timens_analysis.study.status import records


@dataclass(frozen=True, slots=True)
class Value:
    """One process and metric: the last attempt, seconds per call."""

    seconds: float
    cpu_seconds: float
    calls: int
    started: float
    duration_s: float
    facts: Mapping[str, Any]


Cells = Mapping[tuple[str, str], Mapping[int, Value]]  # (arm, metric) -> block -> value

FACTS = ("pid", "block", "attempt", "position", "run_delay_ns", "involuntary_switches")


def collect(folder: Path, ns_per_tick: float) -> Cells:
    """One small value for each cell; no record is kept."""
    tick_s = ns_per_tick * 1e-9
    cells: dict[tuple[str, str], dict[int, Value]] = {}
    for record in records(folder):
        ticks, calls = batch_ticks(record), record["calls"]
        median_s = float(np.median(ticks)) / record["batch"] * tick_s
        value = Value(
            seconds=median_s,
            cpu_seconds=record.get("cpu_time_ns", 0) * 1e-9 / calls,
            calls=calls,
            started=record.get("wall_start_s", 0.0),
            duration_s=record["total_ticks"] * tick_s,
            facts={fact: record[fact] for fact in FACTS if fact in record},
        )
        cells.setdefault((record["arm"], record["metric"]), {})[record["block"]] = value
    return cells


def _pyperf_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _pyperf_run(value: Value) -> dict[str, Any]:
    return {
        "metadata": {
            "date": _pyperf_date(value.started),
            "duration": value.duration_s,
            "loops": value.calls,
            **{f"timens_{fact}": number for fact, number in value.facts.items()},
        },
        "values": [value.seconds],
    }


def pyperf(environment: Mapping[str, Any], arm: str, cells: Cells) -> dict[str, Any]:
    """A pyperf suite of one arm, file format 1.0: each process is a run with one value."""
    host = environment["host"]
    common = {
        "hostname": host["name"],
        "platform": f"Linux-{host['kernel']}-{host['machine']}",
        "cpu_model_name": host["cpu"]["name"] or "unknown",
        "cpu_count": host["cpus"],
        "aslr": "Full randomization" if host["aslr"] == "2" else str(host["aslr"]),
        "unit": "second",
        "timens_run": environment["run"],
        "timens_arm": arm,
    }
    benchmarks = [
        {
            "metadata": {"name": metric["name"]},
            "runs": [_pyperf_run(value) for _, value in sorted(cells[arm, metric["name"]].items())],
        }
        for metric in environment["metrics"]
        if (arm, metric["name"]) in cells
    ]
    return {"version": "1.0", "metadata": common, "benchmarks": benchmarks}


def _google_rows(metric: str, family: int, values: Sequence[Value]) -> list[dict[str, Any]]:
    return [
        {
            "name": metric,
            "family_index": family,
            "per_family_instance_index": 0,
            "run_name": metric,
            "run_type": "iteration",
            "repetitions": len(values),
            "repetition_index": i,
            "threads": 1,
            "iterations": value.calls,
            "real_time": value.seconds * 1e9,
            "cpu_time": value.cpu_seconds * 1e9,
            "time_unit": "ns",
        }
        for i, value in enumerate(values)
    ]


def google(environment: Mapping[str, Any], arm: str, cells: Cells) -> dict[str, Any]:
    """Google Benchmark's JSON of one arm: each process is a repetition."""
    host = environment["host"]
    context = {
        "date": environment["started"],
        "host_name": host["name"],
        "executable": "timens-bench",
        "num_cpus": host["cpus"],
        "mhz_per_cpu": round(float(host["mhz"] or 0)),
        "cpu_scaling_enabled": host["governor"] not in (None, "performance"),
        "aslr_enabled": host["aslr"] != "0",
        "caches": [],
        "load_avg": host["load"],
        "library_build_type": "release",
        "timens_run": environment["run"],
        "timens_arm": arm,
    }
    rows = []
    for family, metric in enumerate(environment["metrics"]):
        blocks = cells.get((arm, metric["name"]), {})
        values = [value for _, value in sorted(blocks.items())]
        rows += _google_rows(metric["name"], family, values)
    return {"context": context, "benchmarks": rows}


FORMATS = {"pyperf": pyperf, "google": google}
