# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where and how the arms run: one CPU and one scheduling policy for all of them.

Both are inherited over fork and exec, into every namespace; inside a user namespace they could
no longer be asked for.  So the study takes them for the moment in which it starts an arm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from timens_analysis.errors import UserError

FIFO_PRIORITY = 50
COLLECTOR_PRIORITY = 1


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The CPU that measures, and SCHED_FIFO or the reason why not."""

    cpu: int
    fifo: bool
    why_not: str | None

    @property
    def policy(self) -> str:
        """As the header says it."""
        return f"SCHED_FIFO {FIFO_PRIORITY}" if self.fifo else "SCHED_OTHER"

    def applied(self) -> AbstractContextManager[None]:
        """What is started inside runs like this; the study itself does not, afterwards."""
        return _as({self.cpu}, FIFO_PRIORITY if self.fifo else None)

    def beside(self) -> AbstractContextManager[None]:
        """The collector while it collects: off the CPU that measures, where there is another, and
        as quick to answer as the workers, which wait for it between their turns."""
        others = os.sched_getaffinity(0) - {self.cpu}
        return _as(others or {self.cpu}, COLLECTOR_PRIORITY if self.fifo and others else None)


@contextmanager
def _as(cpus: set[int], fifo_priority: int | None) -> Iterator[None]:
    before = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setaffinity(0, cpus)
    if fifo_priority is not None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(fifo_priority))
    try:
        yield
    finally:
        os.sched_setscheduler(0, before[1], before[2])
        os.sched_setaffinity(0, before[0])


def _fifo_refused() -> str | None:
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
    except OSError as problem:
        return f"not allowed: {os.strerror(problem.errno or 0)}"
    os.sched_setscheduler(0, *before)
    return None


def choose(cpu: int | None, *, want_fifo: bool = True) -> Scheduling:
    """The CPU asked for, or the last that we may use: interrupts gather on the first."""
    allowed = sorted(os.sched_getaffinity(0))
    if cpu is None:
        cpu = allowed[-1]
    if cpu not in allowed:
        usable = ", ".join(map(str, allowed))
        raise UserError(
            "scheduling", f"CPU {cpu}", "not one that we may use", hint=f"choose from {usable}"
        )
    why_not = _fifo_refused() if want_fifo else "switched off by --no-fifo"
    return Scheduling(cpu, why_not is None, why_not)
