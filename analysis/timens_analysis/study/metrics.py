# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which metrics a run measures and how often: timens-bench's own list, a profile's counts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.study.plan import Metric, Profile

COUNTERS = ("rdtscp", "cntvct")
TIMERS = ("timer_create", "timer_delete")
TIMERFDS = ("timerfd_create", "timerfd_close")


def ask_bench(bench: Path, *words: str) -> Any:
    """What `timens-bench WORDS` prints, as JSON."""
    try:
        done = subprocess.run([bench, *words], capture_output=True, text=True, check=False)
    except OSError as problem:
        raise UserError("timens-bench", str(bench), problem.strerror or str(problem)) from problem
    if done.returncode != 0:
        said = done.stderr.strip() or f"exit status {done.returncode}"
        raise UserError("timens-bench", " ".join(words), said)
    return json.loads(done.stdout)


def _class(row: Mapping[str, Any]) -> str:
    if row["name"] in TIMERS:
        return "timer"
    if row["name"] in TIMERFDS:
        return "timerfd"
    if row["route"] == "raw" and row["name"] not in COUNTERS:
        return "syscall"
    return "vdso"


def _counts(row: Mapping[str, Any], profile: Profile) -> tuple[int, int]:
    if row["kind"] == "sleep":
        return profile.sleeps, 1
    return profile.calls[_class(row)]


def _wanted(rows: Sequence[Mapping[str, Any]], words: str) -> list[str]:
    """`study`: the paper's and the controls; `calls`: those but the sleeps; `paper`, `all`, or
    a list of names."""
    if words == "all":
        return [row["name"] for row in rows]
    if words == "paper":
        return [row["name"] for row in rows if row["set"] == "paper"]
    if words == "study":
        return [row["name"] for row in rows if row["set"] == "paper" or row["control"]]
    if words == "calls":
        return [n for n in _wanted(rows, "study") if "sleep" not in n]
    return words.split(",")


def choose(rows: Sequence[Mapping[str, Any]], words: str, profile: Profile) -> tuple[Metric, ...]:
    """The metrics of a run, in timens-bench's order, with this profile's counts."""
    rows = [row for row in rows if row["available"]]
    by_name = {row["name"]: row for row in rows}
    names = _wanted(rows, words)
    for name in names:
        if name not in by_name:
            raise UserError(
                "--metrics", name or "''", "no such metric here", hint="see: timens-bench list"
            )
    return tuple(
        Metric(name, row["route"], row["kind"], row["control"], *_counts(row, profile))
        for name, row in by_name.items()
        if name in names
    )
