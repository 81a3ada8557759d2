# SPDX-License-Identifier: LGPL-2.1-or-later
"""The paper's instrument, looked at with its own eyes.

uftrace takes its time stamps with clock_gettime() inside the traced process, that is with the very
call that a time namespace slows.  So every function seems slower in the namespace, the empty one
too: its row says how much of the others' is the instrument.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from timens_analysis.errors import UserError
from timens_analysis.study.arms import OFFSETS, offset_options
from timens_analysis.study.programs import find

# In the order in which traced.c calls them.
FUNCTIONS = (
    "empty",
    "getppid",
    "clock_getres",
    "clock_gettime",
    "gettimeofday",
    "vdso clock_gettime",
    "vdso gettimeofday",
)
EXIT = 1  # record type in the two lowest bits; the address begins at bit 16 (uftrace: mcount.h)
ADDRESS_SHIFT = 16
# Stamps come in steps of up to 10 ns, so a median or a minimum is as coarse as a step: only means
# see less.  The slowest tenth is left out: interrupts.
KEPT = 90


@dataclass(frozen=True, slots=True)
class Row:
    """One traced function: ns per call, and the paired difference over the rounds."""

    function: str
    host_ns: float
    timens_ns: float
    difference_ns: float
    low_ns: float
    high_ns: float


def durations(data: bytes, calls: int) -> dict[str, NDArray[np.int64]]:
    """Nanoseconds of every call, from a .dat file of uftrace: 16 bytes for an entry or an exit."""
    records = np.frombuffer(data, dtype="<u8").reshape(-1, 2)
    times = records[:, 0].astype(np.int64)
    kinds, addresses = records[:, 1] & 3, records[:, 1] >> ADDRESS_SHIFT
    # main() is the first to be entered and the last to leave; all others are pairs.
    entries, exits = np.flatnonzero(kinds == 0)[1:], np.flatnonzero(kinds == EXIT)[:-1]
    if len(entries) != len(exits) or len(entries) != calls * len(FUNCTIONS):
        raise UserError(
            "uftrace", f"{len(entries)} calls in the trace", f"expected {calls * len(FUNCTIONS)}"
        )
    spent = times[exits] - times[entries]
    order = addresses[entries]
    return {name: spent[order == order[i * calls]] for i, name in enumerate(FUNCTIONS)}


def _one(prefix: Sequence[str], calls: int) -> dict[str, float]:
    """Traces once; mean without the slowest tenth, for each function."""
    with tempfile.TemporaryDirectory(prefix="timens-uftrace-") as folder:
        data = Path(folder) / "data"
        command = [
            *prefix,
            *("uftrace", "record", "--no-libcall", "--no-event", "-d", str(data)),
            *(str(find("timens-traced")), str(calls)),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise UserError(
                "uftrace", "uftrace", "not found", hint="apt-get install uftrace"
            ) from None
        if done.returncode != 0:
            cause = (done.stderr or done.stdout).strip().splitlines()
            raise UserError("uftrace", " ".join(command), cause[-1] if cause else "failed")
        traces = [file for file in data.glob("*.dat") if file.stem.isdigit()]
        if len(traces) != 1:
            raise UserError("uftrace", str(data), f"{len(traces)} traces where one was expected")
        each = durations(traces[0].read_bytes(), calls)
    return {
        name: float(spent[spent <= np.percentile(spent, KEPT)].mean())
        for name, spent in each.items()
    }


def median_limits(gaps: NDArray[np.float64]) -> tuple[float, float]:
    """95 % limits of the median by ranks (Conover 1999, 3.2): no assumption on the shape."""
    ordered = np.sort(gaps)
    rank = int(stats.binom.ppf(0.025, len(ordered), 0.5))
    return float(ordered[max(0, rank - 1)]), float(ordered[-max(1, rank)])


def cross_check(calls: int, rounds: int, on_round: Callable[[int], None]) -> list[Row]:
    """Host and time namespace in turn; which one begins changes from round to round."""
    arms: dict[str, list[str]] = {
        "host": [],
        "timens": [
            *(str(find("timens-run")), "--seccomp", "unconfined", "--only", "time"),
            *(*offset_options(OFFSETS), "--"),
        ],
    }
    seen: dict[str, list[dict[str, float]]] = {"host": [], "timens": []}
    for number in range(rounds):
        order = list(arms) if number % 2 == 0 else list(reversed(arms))
        for arm in order:
            seen[arm].append(_one(arms[arm], calls))
        on_round(number + 1)
    rows = []
    for name in FUNCTIONS:
        host = np.array([values[name] for values in seen["host"]])
        inside = np.array([values[name] for values in seen["timens"]])
        gap = inside - host
        low, high = median_limits(gap)
        rows.append(
            Row(
                name,
                float(np.median(host)),
                float(np.median(inside)),
                float(np.median(gap)),
                float(low),
                float(high),
            )
        )
    return rows
