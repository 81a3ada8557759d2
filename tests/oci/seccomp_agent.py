# SPDX-License-Identifier: LGPL-2.1-or-later
"""A seccomp agent: takes listeners over a socket and answers the calls that a filter leaves to it.

Source: seccomp_unotify(2); OCI runtime specification, config-linux.md, "Container Process State".
"""

import array
import fcntl
import json
import os
import select
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NOTIFICATION = struct.Struct("=QIIiIQ6Q")  # id, pid, flags, nr, arch, ip, args
ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
CONTINUE = 1
READ_WRITE, MAGIC = 3 << 30, ord("!") << 8
RECEIVE = READ_WRITE | NOTIFICATION.size << 16 | MAGIC | 0
SEND = READ_WRITE | ANSWER.size << 16 | MAGIC | 1


class Agent:
    """Answers each call with an errno, or lets it go on (0)."""

    def __init__(self, path: Path, errno_for: Callable[[int], int]) -> None:
        self.path = path
        self.errno_for = errno_for
        self.states: list[dict[str, Any]] = []
        self.calls: list[int] = []
        self.stop, self.wake = os.pipe()
        self.threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.path))
        self.socket.listen()
        self.start(self.accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None
    ) -> None:
        os.close(self.wake)
        for thread in self.threads:
            thread.join()
        os.close(self.stop)
        self.socket.close()

    def start(self, work: Callable[..., None], *args: object) -> None:
        self.threads.append(threading.Thread(target=work, args=args))
        self.threads[-1].start()

    def readable(self, fd: int) -> bool:
        """False: the test is over, or the last process under the filter has ended."""
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.register(self.stop, select.POLLIN)
        ready = dict(poll.poll())
        return ready.get(fd, 0) == select.POLLIN and self.stop not in ready

    def accept(self) -> None:
        while self.readable(self.socket.fileno()):
            connection, _ = self.socket.accept()
            with connection:
                text, fds, _, _ = socket.recv_fds(connection, 1 << 16, 4)
            if not text:
                self.states.append({"error": "a connection without a message"})
                continue
            self.states.append(json.loads(text))
            self.start(self.answer, fds[0])

    def answer(self, listener: int) -> None:
        while self.readable(listener):
            notification = array.array("B", bytes(NOTIFICATION.size))
            try:
                fcntl.ioctl(listener, RECEIVE, notification)
                number, _, _, call, *_ = NOTIFICATION.unpack(notification)
                self.calls.append(call)
                code = self.errno_for(call)
                flags = CONTINUE if code == 0 else 0
                fcntl.ioctl(listener, SEND, ANSWER.pack(number, 0, -code, flags))
            except FileNotFoundError:
                continue  # who had called is gone
        os.close(listener)
