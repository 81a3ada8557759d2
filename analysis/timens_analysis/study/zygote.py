# SPDX-License-Identifier: LGPL-2.1-or-later
"""Talk to the process that waits in each arm, which forks a fresh worker for every request.

    study                                   timens-bench zygote, inside the arm
      |  <------ {"zygote":"ready","pid":P}   once
      |  measure --metrics ... ------------>  fork, exec of itself, wait
      |  <------ {"turn":"wanted"}            from the worker, with --turns, before every few
      |  one byte ------------------------->  batches
      |  <------ one line for each record     from the worker, on the same pipe
      |  <------ {"zygote":"end","status":N}
      |  end of file ---------------------->  exit

The study's death closes the pipe and so ends every zygote, however it died.
"""

from __future__ import annotations

import json
import os
import select
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

Measured = tuple[Request, int, dict[str, Any]]  # request, place of the metric in it, record


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
        self._readable = select.poll()
        self._readable.register(self.out_fd, select.POLLIN)

    @property
    def pid(self) -> int:
        """The process that was started: the launcher of the arm, or the zygote itself."""
        return self._process.pid

    def send(self, words: Sequence[str]) -> None:
        """One request."""
        self._write(" ".join(words).encode() + b"\n")

    def give_turn(self) -> None:
        """Any byte will do."""
        self._write(b"t")

    def _write(self, data: bytes) -> None:
        try:
            self._in.write(data)
        except BrokenPipeError:
            raise self.failure("ended by itself") from None

    def listen(self) -> list[dict[str, Any]]:
        """Waits for at least one whole line and returns those that have arrived."""
        lines: list[bytes] = []
        while not lines:
            if not self._readable.poll(SILENCE_S * 1000):
                raise self.failure(f"said nothing for {SILENCE_S:.0f} s")
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


Asked = tuple[Zygote, Request, Sequence[str]]


def await_ready(zygotes: Sequence[Zygote]) -> None:
    """Returns when every zygote is inside its arm."""
    for zygote in zygotes:
        for message in zygote.listen():
            if message.get("zygote") != "ready":
                raise zygote.failure(f"said {message} in place of ready")


class _Worker:
    """A request under way, and the records that it still owes: by name, because the two halves of
    a pair (create and delete) are timed from the same calls and arrive together."""

    def __init__(self, zygote: Zygote, request: Request, words: Sequence[str]) -> None:
        self.zygote = zygote
        self.request = request
        self._places: dict[str, deque[int]] = defaultdict(deque)
        for place, metric in enumerate(request.metrics):
            self._places[metric].append(place)
        self._left = len(request.metrics)
        self.has_ended = False
        zygote.send(words)

    def hear(self) -> Iterator[Measured]:
        """Yields the records among the messages that come next."""
        for message in self.zygote.listen():
            if "metric" in message:
                yield self.request, self._place(message["metric"]), message
            elif "zygote" in message:
                self._check_end(message["status"])

    def run_until_it_waits(self) -> Iterator[Measured]:
        """Until the worker wants a turn, or has ended."""
        waits = False
        while not waits and not self.has_ended:
            for message in self.zygote.listen():
                if "metric" in message:
                    yield self.request, self._place(message["metric"]), message
                elif "turn" in message:
                    waits = True
                else:
                    self._check_end(message["status"])

    def _place(self, metric: str) -> int:
        places = self._places[metric]
        if not places:
            raise self.zygote.failure(f"measured {metric} unasked")
        self._left -= 1
        return places.popleft()

    def _check_end(self, status: int) -> None:
        if status != 0 or self._left:
            raise self.zygote.failure(
                f"a worker ended with status {status}, {self._left} of "
                f"{len(self.request.metrics)} records missing"
            )
        self.has_ended = True


def side_by_side(asked: Sequence[Asked]) -> Iterator[Measured]:
    """All requests at the same time, each in a zygote of its own: for sleepers, or for one."""
    workers = {zygote.out_fd: _Worker(zygote, request, words) for zygote, request, words in asked}
    waiting = select.poll()
    for fd in workers:
        waiting.register(fd, select.POLLIN)
    while workers:
        for fd, _ in waiting.poll(SILENCE_S * 1000) or [(next(iter(workers)), 0)]:
            yield from workers[fd].hear()
            if workers[fd].has_ended:
                waiting.unregister(fd)
                del workers[fd]


def in_turns(asked: Sequence[Asked]) -> Iterator[Measured]:
    """All workers alive and prepared, but only one runs at a time, a few batches each.

    So they all meet the same spells of a shared machine (docs/decisions/0402-turns.md)."""
    workers = deque(_Worker(zygote, request, words) for zygote, request, words in asked)
    for worker in workers:
        yield from worker.run_until_it_waits()
    while workers:
        worker = workers.popleft()
        if not worker.has_ended:
            worker.zygote.give_turn()
            yield from worker.run_until_it_waits()
            workers.append(worker)
