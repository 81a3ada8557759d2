# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tell the person who waits how far a run is; never fail because nobody listens any more."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from timens_analysis.study.runner import Progress
from timens_analysis.study.session import Listeners

LINE_EVERY_S = 15.0
DRAW_EVERY_S = 0.1


class Stopped(KeyboardInterrupt):
    """A signal asked us to end; what was measured is in the file."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def tell(self, folder: Path) -> int:
        """How to go on; returns the exit status that a shell knows for a signal."""
        with suppress(OSError):  # the terminal may be gone
            print(
                f"\ntimens-study: signal {self.number}: {folder}: stopped, its records are kept\n"
                f"hint: timens-study resume {folder}",
                file=sys.stderr,
            )
        return 128 + self.number


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C, a closed terminal and a polite kill all end a run in the same, resumable way."""

    def stop(number: int, _frame: object) -> None:
        raise Stopped(number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup has said that a closed terminal is not our business.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def duration(seconds: float) -> str:
    """1:05, or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def line(progress: Progress) -> str:
    """One line on where the run is."""
    share = progress.groups_done / progress.groups
    left = "?" if progress.left_s is None else duration(progress.left_s)
    again = f", {progress.remeasured} measured again" if progress.remeasured else ""
    return (
        f"{share:4.0%}  {progress.label}, {progress.arm} {progress.metric}; "
        f"{progress.records} records{again}; {left} left"
    )


class Voice:
    """One line that is drawn over on a terminal; a line now and then elsewhere."""

    def __init__(self, out: TextIO, *, quiet: bool) -> None:
        self._out = out
        self._quiet = quiet
        self._terminal = out.isatty()
        self._drawn = False
        self._last = time.monotonic()

    def listeners(self) -> Listeners:
        """What a session talks to."""
        return Listeners(self.say, self.progress)

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._quiet:
            self._write(self._clear() + text + "\n")

    def progress(self, progress: Progress) -> None:
        """Called for every cell."""
        if self._quiet:
            return
        if self._terminal:
            if time.monotonic() - self._last < DRAW_EVERY_S:
                return
            self._last = time.monotonic()
            width = shutil.get_terminal_size().columns - 1
            self._write("\r\x1b[K" + line(progress)[:width])
            self._drawn = True
        elif time.monotonic() - self._last >= LINE_EVERY_S:
            self._last = time.monotonic()
            self._write(line(progress) + "\n")

    def _clear(self) -> str:
        clear = "\r\x1b[K" if self._drawn else ""
        self._drawn = False
        return clear

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:
            # The terminal is gone or the disk of the log is full: the records matter more.
            self._quiet = True


def voice(*, quiet: bool) -> Voice:
    """On stderr: stdout is for results."""
    return Voice(sys.stderr, quiet=quiet)
