# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured in which order: a pure function of arms, metrics, profile and seed.

Two designs.  "blocks" is the sound one: every block asks each arm once, arms in random order, all
with the same random order of metrics, so that drift and carry-over fall on all arms alike.
"sequential" is the paper's: level after level, one process for each level and metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Design = Literal["blocks", "sequential"]
DESIGNS: tuple[Design, ...] = ("blocks", "sequential")

SLEEP_REQUESTED_S = 0.1  # timens-bench sleeps 100 ms a call
# More sleepers than this wake each other up: the 90th percentile of the oversleep doubles at 64.
MOST_SLEEPERS = 24


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of Table III or of the extended list, with this run's counts."""

    name: str
    route: str
    kind: Literal["call", "sleep"]
    control: Literal["negative", "positive"] | None
    calls: int
    batch: int


@dataclass(frozen=True, slots=True)
class Profile:
    """How much is measured.  `calls` maps a class of metrics to (calls per record, batch)."""

    name: str
    about: str
    blocks: int
    calls: Mapping[str, tuple[int, int]]
    batches_per_turn: int
    sleeps: int
    sleep_workers: int


def _calls(vdso: int, syscall: int, timer: int, timerfd: int) -> dict[str, tuple[int, int]]:
    # Batches: short enough that most escape preemption; timers at 100-250 because a larger batch
    # leaves the caches and a smaller one times the clock reads (docs/methods.md, "Batches").
    return {
        "vdso": (vdso, 1000),
        "syscall": (syscall, 200),
        "timer": (timer, 250),
        "timerfd": (timerfd, 200),
    }


PROFILES: dict[str, Profile] = {
    p.name: p
    for p in (
        Profile("smoke", "for tests only", 3, _calls(4_000, 2_000, 1_000, 800), 4, 1, 3),
        Profile("quick", "under 2 minutes", 108, _calls(100_000, 20_000, 20_000, 10_000), 4, 4, 6),
        Profile(
            "standard", "under 15 minutes", 200, _calls(200_000, 100_000, 50_000, 50_000), 5, 10, 6
        ),
        Profile(
            "paper",
            "200 records of a million calls: 1 to 2 hours",
            200,
            _calls(10**6, 10**6, 10**6, 10**6),
            20,
            10,
            6,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Request:
    """One fresh worker: metric i of `metrics` becomes a record of block `blocks[i]`."""

    arm: str
    metrics: tuple[str, ...]
    blocks: tuple[int, ...]

    def cells(self) -> Iterator[tuple[str, int, str]]:
        """(arm, block, metric) of every record that this worker will deliver."""
        for block, metric in zip(self.blocks, self.metrics, strict=True):
            yield self.arm, block, metric


@dataclass(frozen=True, slots=True)
class Group:
    """Requests that belong together: what is interrupted inside a group is measured again."""

    label: str
    kind: Literal["call", "sleep"]
    requests: tuple[Request, ...]


def sleep_workers(profile: Profile, arms: int) -> int:
    """Sleepers of one arm at the same time."""
    return max(1, min(profile.sleep_workers, MOST_SLEEPERS // arms))


def _shuffled(names: Sequence[str], *seed: object) -> tuple[str, ...]:
    # A generator for each block: block 57 is the same whether or not 0..56 were planned first.
    # Seeding with a string hashes it (SHA-512), the same in every version and process.
    out = list(names)
    Random("/".join(map(str, seed))).shuffle(out)
    return tuple(out)


def _block_requests(
    arms: Sequence[str], metrics: Sequence[str], block: int, seed: int, phase: str
) -> tuple[Request, ...]:
    order = _shuffled(metrics, seed, block, phase, "metrics")
    return tuple(
        Request(arm, order, (block,) * len(order))
        for arm in _shuffled(arms, seed, block, phase, "arms")
    )


def randomised_blocks(
    arms: Sequence[str],
    metrics: Sequence[Metric],
    *,
    blocks: int,
    sleepers: int,
    seed: int,
    first: int = 0,
) -> Iterator[Group]:
    """Complete blocks first..first+blocks-1; sleeps in a phase of their own, side by side."""
    calls = [m.name for m in metrics if m.kind == "call"]
    sleeps = [m.name for m in metrics if m.kind == "sleep"]
    span = range(first, first + blocks)
    if calls:
        for block in span:
            label = f"block {block + 1}"
            yield Group(label, "call", _block_requests(arms, calls, block, seed, "calls"))
    if sleeps:
        for start in span[::sleepers]:
            several = range(start, min(start + sleepers, span.stop))
            requests = tuple(
                request
                for block in several
                for request in _block_requests(arms, sleeps, block, seed, "sleeps")
            )
            yield Group(f"sleeps {start + 1}-{several.stop}", "sleep", requests)


def level_after_level(
    arms: Sequence[str],
    metrics: Sequence[Metric],
    *,
    blocks: int,
    first: int = 0,
) -> Iterator[Group]:
    """The paper's order: arms and metrics as given, one process for all records of a pair.

    Record i of every arm is called block first+i so that the files look alike, but nothing was
    measured side by side: the analysis must not pair them.
    """
    span = tuple(range(first, first + blocks))
    for arm in arms:
        for metric in metrics:
            request = Request(arm, (metric.name,) * blocks, span)
            yield Group(f"{arm} {metric.name}", metric.kind, (request,))


def plan(
    design: Design,
    arms: Sequence[str],
    metrics: Sequence[Metric],
    *,
    blocks: int,
    sleepers: int,
    seed: int,
    replicates: int = 1,
) -> Iterator[Group]:
    """All groups of a run, `replicates` independent studies one after the other."""
    for start in range(0, blocks * replicates, blocks):
        if design == "sequential":
            yield from level_after_level(arms, metrics, blocks=blocks, first=start)
        else:
            yield from randomised_blocks(
                arms, metrics, blocks=blocks, sleepers=sleepers, seed=seed, first=start
            )


def expected_s(
    design: Design,
    metrics: Sequence[Metric],
    *,
    arms: int,
    blocks: int,
    sleepers: int,
    call_group_s: float,
) -> tuple[float, float]:
    """Seconds for the (calls, sleeps) phases, from the mean time of a group of calls."""
    calls = sum(1 for m in metrics if m.kind == "call")
    sleeping = sum((m.calls + 1) * SLEEP_REQUESTED_S for m in metrics if m.kind == "sleep")
    if design == "sequential":
        return arms * calls * call_group_s, arms * blocks * sleeping
    return blocks * call_group_s, -(-blocks // sleepers) * sleeping
