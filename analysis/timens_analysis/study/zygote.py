# SPDX-License-Identifier: LGPL-2.1-or-later
"""Talk to the long-lived process of each arm, which forks a fresh worker for every request.

    study                                   timens-bench zygote, inside the arm
      |  <------ {"zygote":"ready","pid":P}   once
      |  measure --metrics ... ------------>  fork, exec of itself, wait
      |  <------ one line for each record     from the worker, on the same pipe
      |  <------ {"zygote":"end","status":N}
      |  end of file ---------------------->  exit

The study's death closes the pipe and so ends every zygote, however it died.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

from timens_analysis.errors import UserError
from timens_analysis.study.plan import Request
from timens_analysis.study.scheduling import Scheduling

# A worker prints each record when it is done; the longest, a million timerfd pairs on a loaded
# machine, takes some seconds.
SILENCE_S = 300.0


class Zygote:
    """One process inside one arm."""

    def __init__(self, arm: str, command: Sequence[str], scheduling: Scheduling) -> None:
        self.arm = arm
        self._pending = b""
        self._errors_fd = os.memfd_create("stderr")
        with scheduling.applied():
            # A session of its own: Ctrl-C at the terminal is for the study, which then ends
            # the zygotes when the record in hand is finished.
            self._process = subprocess.Popen(
                [*command, "zygote"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors_fd,
                bufsize=0,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin
        self.out_fd = self._process.stdout.fileno()
        os.set_blocking(self.out_fd, False)

    @property
    def pid(self) -> int:
        """The process that was started: the launcher of the arm, or the zygote itself."""
        return self._process.pid

    def send(self, words: Sequence[str]) -> None:
        """One request."""
        try:
            self._in.write(" ".join(words).encode() + b"\n")
        except BrokenPipeError:
            raise self.failure("ended by itself") from None

    def receive(self) -> list[dict[str, Any]]:
        """The lines that have arrived; an empty list when none is complete yet."""
        chunk = os.read(self.out_fd, 1 << 20)
        if not chunk:
            raise self.failure("ended by itself")
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise self.failure("printed something that is not JSON") from None

    def failure(self, what: str) -> UserError:
        """An error with the last words of the launcher or the worker, which name the cause."""
        self._in.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
        said = os.pread(self._errors_fd, 1 << 16, 0).decode("utf-8", "replace").strip().splitlines()
        hints = [line.removeprefix("hint: ") for line in said if line.startswith("hint: ")]
        causes = [line for line in said if not line.startswith("hint: ")]
        return UserError(
            "arm", self.arm, causes[-1] if causes else what, hint=hints[-1] if hints else None
        )

    def close(self) -> None:
        """End of file: a zygote that has no worker ends at once."""
        self._in.close()

    def wait(self) -> None:
        """After close(): what does not end by itself is ended, with the worker it waits for."""
        for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
            if signal_number is not None:
                os.killpg(self._process.pid, signal_number)
            try:
                self._process.wait(timeout=2)
                break
            except subprocess.TimeoutExpired:
                continue
        assert self._process.stdout is not None
        self._process.stdout.close()
        os.close(self._errors_fd)


def _wait(waiting: selectors.BaseSelector) -> Iterator[tuple[Zygote, dict[str, Any]]]:
    ready = waiting.select(SILENCE_S)
    if not ready:
        silent = [key.data for key in waiting.get_map().values()]
        raise silent[0].failure(f"said nothing for {SILENCE_S:.0f} s")
    for key, _ in ready:
        for message in key.data.receive():
            yield key.data, message


def await_ready(zygotes: Sequence[Zygote]) -> None:
    """Returns when every zygote is inside its arm."""
    with selectors.DefaultSelector() as waiting:
        for zygote in zygotes:
            waiting.register(zygote.out_fd, selectors.EVENT_READ, zygote)
        while waiting.get_map():
            for zygote, message in _wait(waiting):
                if message.get("zygote") != "ready":
                    raise zygote.failure(f"said {message} in place of ready")
                waiting.unregister(zygote.out_fd)


class _Awaited:
    """The records that a request still owes: by name, because the two halves of a pair (create
    and delete) are timed from the same calls and arrive together."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._places: dict[str, deque[int]] = defaultdict(deque)
        for place, metric in enumerate(request.metrics):
            self._places[metric].append(place)
        self.left = len(request.metrics)

    def place(self, metric: str) -> int | None:
        """Which of the metrics asked for this is; None when it was not."""
        places = self._places[metric]
        if not places:
            return None
        self.left -= 1
        return places.popleft()


def converse(
    pairs: Sequence[tuple[Zygote, Request, Sequence[str]]],
) -> Iterator[tuple[Request, int, dict[str, Any]]]:
    """Sends each zygote its request, all at once, and yields (request, i, record) as they come."""
    awaited = {zygote: _Awaited(request) for zygote, request, _ in pairs}
    with selectors.DefaultSelector() as waiting:
        for zygote, _, words in pairs:
            zygote.send(words)
            waiting.register(zygote.out_fd, selectors.EVENT_READ, zygote)
        while waiting.get_map():
            for zygote, message in _wait(waiting):
                owed = awaited[zygote]
                if "zygote" not in message:
                    place = owed.place(message["metric"])
                    if place is None:
                        raise zygote.failure(f"measured {message['metric']} unasked")
                    yield owed.request, place, message
                elif message["status"] == 0 and not owed.left:
                    waiting.unregister(zygote.out_fd)
                else:
                    raise zygote.failure(
                        f"a worker ended with status {message['status']}, {owed.left} of "
                        f"{len(owed.request.metrics)} records missing"
                    )
