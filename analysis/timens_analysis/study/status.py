# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a run is, read from its files while it may still be measuring."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timens_analysis.study.header import RECORDS, study_of
from timens_analysis.study.journal import Key, is_locked
from timens_analysis.study.runner import SESSIONS


@dataclass(frozen=True, slots=True)
class Status:
    """One run."""

    run: str
    profile: str
    design: str
    state: str  # "measuring", "complete" or "interrupted"
    records: int
    cells_done: int
    cells: int
    attempts_again: int
    flags: Mapping[str, int]
    sessions: int
    collector_max_rss_kb: int


def records(folder: Path) -> Iterator[dict[str, Any]]:
    """Finished records, one after the other; a torn last line is left out."""
    from timens_analysis.load import parse_record

    path = folder / RECORDS
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield parse_record(line, f"{path}: line {number}")
    except FileNotFoundError:
        return


def sessions(folder: Path) -> list[dict[str, Any]]:
    """Who measured into this folder, and how each session began and ended."""
    path = folder / SESSIONS
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def of(folder: Path, environment: Mapping[str, Any]) -> Status:
    """Counts without keeping any record."""
    done: set[Key] = set()
    flags: Counter[str] = Counter()
    count = 0
    for record in records(folder):
        done.add((record["arm"], record["block"], record["metric"]))
        flags.update(record["flags"])
        count += 1
    study = study_of(environment)
    cells = len(study.arms) * len(study.metrics) * study.blocks * study.replicates
    state = "complete" if len(done) == cells else "interrupted"
    told = sessions(folder)
    return Status(
        run=str(environment["run"]),
        profile=study.profile,
        design=study.design,
        state="measuring" if is_locked(folder) else state,
        records=count,
        cells_done=len(done),
        cells=cells,
        attempts_again=count - len(done),
        flags=dict(flags),
        sessions=sum(line["event"] == "begin" for line in told),
        collector_max_rss_kb=max((line["collector_max_rss_kb"] for line in told), default=0),
    )
