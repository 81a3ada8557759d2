# SPDX-License-Identifier: LGPL-2.1-or-later
"""environment.json: written once, before the first record; a resumed run obeys it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.study.arms import Arm, Places, restore
from timens_analysis.study.plan import Design, Group, Metric, plan
from timens_analysis.study.proof import Seen
from timens_analysis.study.scheduling import Scheduling

SCHEMA = "timens-environment/1"
ENVIRONMENT = "environment.json"
RECORDS = "records.jsonl"


@dataclass(frozen=True, slots=True)
class Study:
    """All that decides what a run measures and how."""

    profile: str
    design: Design
    seed: int
    arms: tuple[Arm, ...]
    metrics: tuple[Metric, ...]
    blocks: int
    replicates: int
    sleepers: int
    batches_per_turn: int
    places: Places
    ns_per_tick: float
    clock_source_of_ticks: str
    bench_sha256: str

    def groups(self) -> list[Group]:
        """The whole plan; the same every time."""
        return list(
            plan(
                self.design,
                [arm.name for arm in self.arms],
                self.metrics,
                blocks=self.blocks,
                sleepers=self.sleepers,
                seed=self.seed,
                replicates=self.replicates,
            )
        )


def now_utc() -> str:
    """ISO 8601, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def compose(
    study: Study,
    *,
    folder: Path,
    argv: Sequence[str],
    tool_version: str,
    scheduling: Scheduling,
    seen: Mapping[str, Seen],
    host: Mapping[str, Any],
    findings: Sequence[Mapping[str, Any]],
    rootfs_digest: str | None,
) -> dict[str, Any]:
    """The header of a new run."""
    return {
        "schema": SCHEMA,
        "run": folder.name,
        "profile": study.profile,
        "design": study.design,
        "seed": study.seed,
        "argv": list(argv),
        "started": now_utc(),
        "tool_version": tool_version,
        "bench_sha256": study.bench_sha256,
        "ns_per_tick": study.ns_per_tick,
        "clock_source_of_ticks": study.clock_source_of_ticks,
        "blocks": study.blocks * study.replicates,
        "replicates": study.replicates,
        "sleepers": study.sleepers,
        "batches_per_turn": study.batches_per_turn,
        "scheduling": asdict(scheduling) | {"policy": scheduling.policy},
        "programs": {
            "timens_run": str(study.places.timens_run),
            "rootfs": str(study.places.rootfs),
        },
        "rootfs_digest": rootfs_digest,
        "host": dict(host),
        "findings": [dict(finding) for finding in findings],
        "arms": [
            {
                "name": arm.name,
                "role": arm.role,
                "command": list(arm.command),
                **seen[arm.name].as_json(),
            }
            for arm in study.arms
        ],
        "metrics": [asdict(metric) for metric in study.metrics],
    }


def write(folder: Path, environment: Mapping[str, Any]) -> None:
    """Whole or not at all, also after a power cut."""
    text = json.dumps(environment, indent=1, ensure_ascii=False) + "\n"
    temporary = folder / f".{ENVIRONMENT}.new"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(folder / ENVIRONMENT)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise UserError("header", str(folder), os.strerror(problem.errno or 0)) from problem


def study_of(environment: Mapping[str, Any]) -> Study:
    """The study that a header describes."""
    replicates = int(environment["replicates"])
    programs = environment["programs"]
    places = Places(
        Path(programs["timens_run"]), Path(programs["rootfs"]), privileged=os.geteuid() == 0
    )
    return Study(
        profile=environment["profile"],
        design=environment["design"],
        seed=environment["seed"],
        arms=tuple(
            restore(arm["name"], arm["role"], arm["command"], places) for arm in environment["arms"]
        ),
        metrics=tuple(Metric(**metric) for metric in environment["metrics"]),
        blocks=environment["blocks"] // replicates,
        replicates=replicates,
        sleepers=environment["sleepers"],
        batches_per_turn=environment["batches_per_turn"],
        places=places,
        ns_per_tick=environment["ns_per_tick"],
        clock_source_of_ticks=environment["clock_source_of_ticks"],
        bench_sha256=environment["bench_sha256"],
    )


def scheduling_of(environment: Mapping[str, Any]) -> Scheduling:
    """The CPU and policy that a header says."""
    scheduling = environment["scheduling"]
    return Scheduling(scheduling["cpu"], scheduling["fifo"], scheduling["why_not"])
