# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results folders that follow schemas/ and hold known effects; nothing is measured."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import numpy as np

NS_PER_TICK = 0.385186
STEP_TICKS = 26  # granularity of the counter of the machine in facts/benchmark.md
ARMS = {
    "baseline": "baseline",
    "baseline_aa": "aa",
    "timens": "treatment",
    "container": "treatment",
}

# name: (route, batch, ns per call, SD between processes)
METRICS = {
    "clock_getres": ("raw", 200, 136.9, 0.3),
    "clock_gettime_monotonic": ("raw", 200, 171.6, 0.4),
    "vdso_clock_gettime_monotonic": ("vdso", 1000, 21.68, 0.02),
    "clock_gettime_boottime": ("raw", 200, 177.6, 0.4),
    "vdso_clock_gettime_boottime": ("vdso", 1000, 21.68, 0.02),
    "gettimeofday": ("raw", 200, 155.4, 0.3),
    "vdso_gettimeofday": ("vdso", 1000, 22.49, 0.02),
    "timer_create": ("raw", 250, 494.0, 5.0),
    "timer_settime": ("raw", 200, 424.7, 1.0),
    "timer_getoverrun": ("raw", 200, 139.0, 0.3),
    "timer_delete": ("raw", 250, 324.8, 0.7),
    "timerfd_create": ("raw", 200, 877.0, 9.0),
    "timerfd_settime": ("raw", 200, 429.4, 1.0),
    "nanosleep": ("raw", 1, 100_022_000.0, 1500.0),
    "clock_nanosleep": ("raw", 1, 100_024_000.0, 1500.0),
}
SHA256 = "0" * 64
FINDINGS = [
    {"check": "clocksource", "level": "good", "found": "tsc", "advice": None},
    {
        "check": "load",
        "level": "warning",
        "found": "load average 4.0 on 2 CPUs",
        "advice": "wait until the machine is idle",
    },
]
SLEEPS = ("nanosleep", "clock_nanosleep")
CONTROLS = {"clock_getres": "negative", "gettimeofday": "negative"}

# What facts/benchmark.md, section 1.3, found: nanoseconds per call.
TRUE_EFFECTS = {
    ("timens", "vdso_clock_gettime_monotonic"): 0.81,
    ("timens", "vdso_clock_gettime_boottime"): 0.81,
    ("timens", "vdso_gettimeofday"): 0.27,
    ("container", "vdso_clock_gettime_monotonic"): 0.81,
    ("container", "vdso_clock_gettime_boottime"): 0.81,
    ("container", "vdso_gettimeofday"): 0.27,
    ("container", "timer_create"): 3.3,
    ("container", "timer_delete"): 2.62,
}


def make_run(
    folder: Path,
    *,
    blocks: int = 30,
    batches: int = 12,
    seed: int = 1,
    effects: dict[tuple[str, str], float] | None = None,
    metrics: tuple[str, ...] = tuple(METRICS),
    design: str = "blocks",
    host: dict[str, object] | None = None,
) -> Path:
    """Write environment.json and records.jsonl of a study whose effects are known."""
    effects = TRUE_EFFECTS if effects is None else effects
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    environment = environment_of(folder.name, metrics, blocks, seed, design, batches)
    environment["host"] = environment["host"] | (host or {})
    (folder / "environment.json").write_text(json.dumps(environment, indent=1))
    lines = []
    for block in range(blocks):
        luck = {metric: rng.normal() for metric in metrics}  # shared by the arms of a block
        for arm in rng.permutation(list(ARMS)):
            for position, metric in enumerate(rng.permutation(metrics)):
                route, batch, ns, sd = METRICS[metric]
                value = ns + effects.get((arm, metric), 0.0) + sd * (luck[metric] + rng.normal())
                record = {"arm": str(arm), "block": block, "metric": str(metric), "route": route}
                record |= {"seq": len(lines), "position": position, "batch": batch}
                lines.append(json.dumps(record_of(record, value, batches, rng)))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def record_of(
    record: dict[str, object], ns: float, batches: int, rng: np.random.Generator
) -> dict[str, object]:
    """A whole record around a true value; batches are multiples of the counter's step."""
    batch = int(str(record["batch"]))
    exact = ns * batch / NS_PER_TICK
    noise = rng.gamma(2.0, 0.002 * exact / batch if batch > 1 else 100.0, size=batches)
    ticks = (np.round((exact + noise) / STEP_TICKS) * STEP_TICKS).astype("<i8")
    more: dict[str, object] = {}
    if record["metric"] in SLEEPS:
        more = {"requested_ns": 100_000_000, "timerslack_ns": 1}
    return {
        "schema": "timens-record/1",
        "attempt": 1,
        "pid": 1000 + int(str(record["seq"])),
        "calls": batch * batches,
        "total_ticks": int(ticks.sum()),
        "batch_ticks": pack(ticks),
        "flags": [],
        **record,
        **more,
    }


def pack(ticks: np.ndarray) -> dict[str, object]:
    data = base64.b64encode(zlib.compress(ticks.astype("<i8").tobytes())).decode()
    return {"encoding": "int64le+zlib+base64", "count": int(ticks.size), "data": data}


def environment_of(
    name: str, metrics: tuple[str, ...], blocks: int, seed: int, design: str, batches: int
) -> dict[str, object]:
    return {
        "schema": "timens-environment/1",
        "run": name,
        "profile": "quick",
        "design": design,
        "seed": seed,
        "argv": ["timens-study", "run", "--profile", "quick", "--seed", str(seed)],
        "started": "2026-11-21T00:00:00Z",
        "tool_version": "0.1.0",
        "bench_sha256": SHA256,
        "ns_per_tick": NS_PER_TICK,
        "clock_source_of_ticks": "rdtscp",
        "blocks": blocks,
        "host": {
            "name": "synthetic",
            "kernel": "6.18.44",
            "machine": "x86_64",
            "cpu": {"vendor": "AuthenticAMD", "name": "Synthetic CPU", "family": "25"},
            "cpus": 2,
            "clocksource": {"current": "tsc", "available": ["tsc", "kvm-clock"]},
            "load": [0.5, 0.4, 0.3],
            "uptime": "1234.5 2345.6",
        },
        "findings": FINDINGS,
        "rootfs_digest": None,
        "arms": [
            {
                "name": arm,
                "role": role,
                "command": [] if arm.startswith("baseline") else ["timens-run", "..."],
                "cgroup": "0::/study",
                "scheduler": "SCHED_FIFO 50",
                "cpus": [1],
                "seccomp_mode": 0,
                "binary_sha256": SHA256,
            }
            for arm, role in ARMS.items()
        ],
        "metrics": [
            {
                "name": metric,
                "route": METRICS[metric][0],
                "kind": "sleep" if metric in SLEEPS else "call",
                "calls": METRICS[metric][1] * batches,
                "batch": METRICS[metric][1],
                "control": CONTROLS.get(metric),
            }
            for metric in metrics
        ],
    }
