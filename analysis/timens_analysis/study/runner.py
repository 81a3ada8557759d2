# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ask the zygotes, group by group, and write down every record the moment it arrives."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from timens_analysis.study import host
from timens_analysis.study.entry import Slots, entered
from timens_analysis.study.header import RECORDS, Study, now_utc
from timens_analysis.study.journal import Journal
from timens_analysis.study.plan import Group, Request, expected_s
from timens_analysis.study.scheduling import Scheduling
from timens_analysis.study.zygote import in_turns, side_by_side

SESSIONS = "sessions.jsonl"
# A record that waited a fifth of its time for a CPU (timens-bench flags it "preempted") is
# measured again, side by side in all arms, twice at most and only while the extra records stay
# below a quarter of the plan.  All attempts stay in the file; the last one counts.
MOST_ATTEMPTS = 3
EXTRA_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person who waits wants to know."""

    label: str
    arm: str
    metric: str
    groups_done: int
    groups: int
    records: int
    remeasured: int
    elapsed_s: float
    left_s: float | None


@dataclass
class Pace:
    """Mean time of a group of each kind, from those already measured."""

    spent_s: dict[str, float] = field(default_factory=lambda: {"call": 0.0, "sleep": 0.0})
    groups: dict[str, int] = field(default_factory=lambda: {"call": 0, "sleep": 0})

    def add(self, kind: str, seconds: float) -> None:
        """One more group took so long."""
        self.spent_s[kind] += seconds
        self.groups[kind] += 1

    def left_s(self, study: Study, left: Mapping[str, int]) -> float | None:
        """None as long as there is nothing to judge by."""
        total = 0.0
        for kind, groups in left.items():
            if not groups:
                continue
            if self.groups[kind]:
                total += groups * self.spent_s[kind] / self.groups[kind]
            elif kind == "sleep":
                total += groups * sleep_group_s(study)
            else:
                return None
        return total


def sleep_group_s(study: Study) -> float:
    """How long a group of sleepers takes: known in advance."""
    _, sleeps = expected_s(
        study.design,
        study.metrics,
        arms=len(study.arms),
        blocks=study.blocks,
        sleepers=study.sleepers,
        call_group_s=0.0,
    )
    groups = -(-study.blocks // study.sleepers)
    if study.design == "sequential":
        groups = len(study.arms) * sum(m.kind == "sleep" for m in study.metrics)
    return sleeps / max(1, groups)


def _only(request: Request, cells: set[tuple[int, str]]) -> Request:
    """The part of a request that measures these, in the same order."""
    kept = [
        (metric, block)
        for metric, block in zip(request.metrics, request.blocks, strict=True)
        if (block, metric) in cells
    ]
    return Request(request.arm, tuple(m for m, _ in kept), tuple(b for _, b in kept))


class Runner:
    """Measures what is missing of one study."""

    def __init__(
        self,
        study: Study,
        scheduling: Scheduling,
        journal: Journal,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._study = study
        self._scheduling = scheduling
        self._slots: Slots = {}
        self._journal = journal
        self._on_progress = on_progress
        self._counts = {m.name: (m.calls, m.batch) for m in study.metrics}
        self._groups = study.groups()
        self._extra = 0
        planned = sum(len(r.metrics) for g in self._groups for r in g.requests)
        self._most_extra = int(planned * EXTRA_SHARE)
        self._done = 0
        self._pace = Pace()
        self._left = {"call": 0, "sleep": 0}

    def run(self) -> None:
        """Every group that is not complete, from its start: blocks stay side by side in time."""
        started = time.monotonic()
        missing = [group for group in self._groups if not self._complete(group)]
        self._done = len(self._groups) - len(missing)
        for group in missing:
            self._left[group.kind] += 1
        before = time.monotonic()
        for _, several in groupby(missing, key=self._entry):
            groups = list(several)
            with entered(self._study, self._scheduling, groups[0].kind) as self._slots:
                for group in groups:
                    self._measure(group, started)
                    self._journal.sync()
                    now = time.monotonic()
                    self._pace.add(group.kind, now - before)
                    before = now
                    self._left[group.kind] -= 1
                    self._done += 1

    def _entry(self, group: Group) -> str:
        """Groups of one name share the processes that wait in the arms: sleeps, and all of the
        paper's order.  A block has its own (docs/decisions/0453-entering-anew.md)."""
        return group.label if self._takes_turns(group) else group.kind

    def _complete(self, group: Group) -> bool:
        return all(
            self._journal.has(cell) for request in group.requests for cell in request.cells()
        )

    def _measure(self, group: Group, started: float) -> None:
        disturbed = self._ask(group, group.requests, started)
        for _ in range(MOST_ATTEMPTS - 1):
            again = [again for r in group.requests if (again := _only(r, disturbed)).metrics]
            extra = sum(len(request.metrics) for request in again)
            if not again or self._extra + extra > self._most_extra:
                break
            self._extra += extra
            disturbed = self._ask(group, again, started)

    def _ask(
        self, group: Group, requests: Sequence[Request], started: float
    ) -> set[tuple[int, str]]:
        """Measures these at the same time; returns (block, metric) of what was disturbed."""
        converse = in_turns if self._takes_turns(group) else side_by_side
        used: Counter[str] = Counter()
        asked = []
        for request in requests:
            # Sleepers of one arm: each has a process of its own.
            zygote = self._slots[request.arm, used[request.arm]]
            used[request.arm] += 1
            asked.append((zygote, request, self._words(group, request)))
        disturbed = set()
        for request, place, measured in converse(asked):
            block, metric = request.blocks[place], request.metrics[place]
            record = self._journal.append(request.arm, block, measured)
            if "preempted" in record["flags"]:
                disturbed.add((block, metric))
            self._tell(group, request.arm, metric, time.monotonic() - started)
        return disturbed

    def _tell(self, group: Group, arm: str, metric: str, elapsed_s: float) -> None:
        self._on_progress(
            Progress(
                label=group.label,
                arm=arm,
                metric=metric,
                groups_done=self._done,
                groups=len(self._groups),
                records=self._journal.count,
                remeasured=self._extra,
                elapsed_s=elapsed_s,
                left_s=self._pace.left_s(self._study, self._left),
            )
        )

    def _takes_turns(self, group: Group) -> bool:
        # Sleepers leave the CPU idle, and one level after the other has nobody to take turns with.
        return group.kind == "call" and len(group.requests) > 1

    def _words(self, group: Group, request: Request) -> list[str]:
        names = list(dict.fromkeys(request.metrics))
        rounds = len(request.metrics) // len(names)
        calls = ",".join(f"{name}={self._counts[name][0]}" for name in names)
        batch = ",".join(f"{name}={self._counts[name][1]}" for name in names)
        return [
            *("measure", "--metrics", ",".join(names)),
            *("--calls", calls, "--batch", batch),
            *(("--repeat", str(rounds)) if rounds > 1 else ()),
            *(("--turns", str(self._study.batches_per_turn)) if self._takes_turns(group) else ()),
        ]


def note_session(folder: Path, event: str, **facts: Any) -> None:
    """Appends to sessions.jsonl: when somebody measured into this folder, and how it ended."""
    line = {
        "event": event,
        "at": now_utc(),
        "pid": os.getpid(),
        "load": list(os.getloadavg()),
        "steal_ticks": host.steal_ticks(),
        "clocksource": host.clocksource()["current"],
        "collector_max_rss_kb": host.peak_memory_kb(),
        **facts,
    }
    with (folder / SESSIONS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def measure(
    folder: Path,
    study: Study,
    scheduling: Scheduling,
    on_progress: Callable[[Progress], None],
) -> int:
    """Completes the records of a folder that this process has locked; returns their number."""
    with Journal(folder / RECORDS) as journal:
        note_session(folder, "begin", records=journal.count)
        why = "error"
        try:
            Runner(study, scheduling, journal, on_progress).run()
            why = "complete"
        except KeyboardInterrupt:
            why = "interrupted"
            raise
        finally:
            note_session(folder, "end", records=journal.count, why=why)
        return journal.count
