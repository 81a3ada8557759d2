# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does reading the clock enter the kernel?  `timens-bench vdso-used` asks the kernel itself: a
forked child forbids itself the system calls that read the time, and reads the time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from timens_analysis.errors import UserError


def answers(bench: Path, clock: str = "CLOCK_MONOTONIC") -> bool | None:
    """Whether the vDSO's clock_gettime answers for this clock; None where it cannot be found out:
    no seccomp, or a machine that timens-bench does not know."""
    try:
        done = subprocess.run([bench, "vdso-used"], capture_output=True, text=True, check=False)
    except OSError as problem:
        raise UserError("vdso", str(bench), problem.strerror or str(problem)) from problem
    if done.returncode != 0:
        return None
    for probe in map(json.loads, done.stdout.splitlines()):
        asked = (probe["vdso_used"], probe["route"], probe["clock"])
        if asked == ("clock_gettime", "vdso", clock):
            return {"user_space": True, "system_call": False, "missing": False}.get(probe["answer"])
    return None
