# SPDX-License-Identifier: LGPL-2.1-or-later
"""Enter the arms, and prove each time that they are what they must be.

A process that waits in an arm hands traits down to all workers that it forks: in one run in ten
all reads of the clock cost 0.3 % more below one of two equal zygotes, for a quarter of an hour.
So every block enters its arms anew (docs/decisions/0453-entering-anew.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from timens_analysis.study.arms import Arm
from timens_analysis.study.header import Study
from timens_analysis.study.proof import Seen, find_zygote, look, prove
from timens_analysis.study.scheduling import Scheduling
from timens_analysis.study.zygote import Zygote, await_ready

Slots = Mapping[tuple[str, int], Zygote]


@contextmanager
def entered(
    study: Study, scheduling: Scheduling, kind: Literal["call", "sleep"]
) -> Iterator[Slots]:
    """All arms, proven, with as many processes as a group of this kind asks at the same time;
    ended again however the block is left."""
    each = study.sleepers if kind == "sleep" and study.design == "blocks" else 1
    slots: dict[tuple[str, int], Zygote] = {}
    try:
        for arm in study.arms:
            for slot in range(each):
                slots[arm.name, slot] = _start(arm, slot, scheduling)
        await_ready(list(slots.values()))
        _prove_all(study.arms, slots)
        yield slots
    finally:
        for zygote in slots.values():
            zygote.close()
        for zygote in slots.values():
            zygote.wait()


def proven(study: Study, scheduling: Scheduling) -> dict[str, Seen]:
    """What each arm is: entered and left again, as the header will say it."""
    with entered(study, scheduling, "call") as slots:
        return _prove_all(study.arms, slots)


def _start(arm: Arm, slot: int, scheduling: Scheduling) -> Zygote:
    words = {"{slot}": f"{arm.name}.{slot}", "{cpu}": str(scheduling.cpu)}
    command = list(arm.command)
    for placeholder, value in words.items():
        command = [word.replace(placeholder, value) for word in command]
    return Zygote(arm.name, command, scheduling)


def _prove_all(arms: Sequence[Arm], slots: Slots) -> dict[str, Seen]:
    by_slot: dict[int, dict[str, Seen]] = {}
    for (name, slot), zygote in slots.items():
        by_slot.setdefault(slot, {})[name] = look(find_zygote(zygote.pid, f"{name}.{slot}"))
    for seen in by_slot.values():
        prove(arms, seen)
    return by_slot[0]
