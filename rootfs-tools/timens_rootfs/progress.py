# SPDX-License-Identifier: LGPL-2.1-or-later
"""One line on the terminal for whatever takes longer than two seconds; silent elsewhere."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

QUIET_S = 2.0
TICK_S = 0.25
CLEAR_LINE = "\r\x1b[K"


@contextlib.contextmanager
def shown(what: str, growing: Path | None = None) -> Iterator[None]:
    """Say what is going on, for how long, and how much `growing` holds by now."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_report, args=(what, growing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _report(what: str, growing: Path | None, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(QUIET_S):
        return
    while not done.wait(TICK_S):
        elapsed_s = time.monotonic() - start
        size = f", {human(tree_bytes(growing))}" if growing is not None else ""
        sys.stderr.write(f"{CLEAR_LINE}{what}: {elapsed_s:.0f} s{size}")
        sys.stderr.flush()
    sys.stderr.write(CLEAR_LINE)
    sys.stderr.flush()


def tree_bytes(folder: Path) -> int:
    """How many bytes the files of a folder hold; files that vanish meanwhile count nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(Path(place, name)).st_size
    return total


def human(size: int) -> str:
    """1536 -> 1.5 KiB"""
    amount = float(size)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
