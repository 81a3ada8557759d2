# SPDX-License-Identifier: LGPL-2.1-or-later
"""Choose another clock source for a while; it is put back however this process ends.

    timens-study                         guard, in a session of its own
      |  fork  --------------------------> |  deaf to Ctrl-C and SIGTERM
      |  <-------------------- one byte    |  ready: before it, nothing is switched
      |  writes current_clocksource        |  waits on a pipe
      |  ends, or is killed: end of file -> |  writes the first source back, exits

Only the guard restores, so that there is one way and it is the one that survives SIGKILL.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from timens_analysis.errors import UserError
from timens_analysis.study.host import CLOCKSOURCE_FOLDER, clocksource, read

CURRENT = "current_clocksource"
# Numbers of the host's own namespaces: include/linux/proc_ns.h of the kernel.
INITIAL_NAMESPACES = {
    "ipc": 0xEFFFFFFF,
    "uts": 0xEFFFFFFE,
    "user": 0xEFFFFFFD,
    "pid": 0xEFFFFFFC,
    "cgroup": 0xEFFFFFFB,
    "time": 0xEFFFFFFA,
}
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def container_signs() -> list[str]:
    """What says that this is not the host itself.

    Not files such as /.dockerenv: machines that are made from images have them too.
    """
    signs = []
    for name, number in INITIAL_NAMESPACES.items():
        file = Path("/proc/self/ns") / name
        if file.exists() and file.stat().st_ino != number:
            signs.append(f"a {name} namespace of its own")
    own, first = (_link(f"/proc/{process}/ns/mnt") for process in ("self", "1"))
    if not signs and first is not None and own != first:
        signs.append("a mnt namespace of its own")
    return signs


def _link(path: str) -> str | None:
    try:
        return str(Path(path).readlink())
    except OSError:
        return None


def refuse_unless_possible() -> None:
    """Says what is missing before anything is touched."""
    if os.geteuid() != 0:
        raise UserError("lab", "clocksource", "only root may switch it", hint="run it with sudo")
    signs = container_signs()
    if signs:
        raise UserError(
            "lab",
            "clocksource",
            f"refused inside a container ({', '.join(signs)})",
            hint="the clock source is the whole host's: run it there",
        )
    if not clocksource()["available"]:
        raise UserError("lab", "clocksource", f"{CLOCKSOURCE_FOLDER} is not there")
    if not os.access(CLOCKSOURCE_FOLDER / CURRENT, os.W_OK):
        raise UserError("lab", "clocksource", "/sys is mounted read-only")


def choose(name: str, folder: Path = CLOCKSOURCE_FOLDER) -> None:
    """Asks the kernel for this source; it is free to refuse without a word."""
    file = folder / CURRENT
    try:
        file.write_text(name)
    except OSError as problem:
        raise UserError("lab", f"clock source {name}", problem.strerror or "") from problem
    kept = read(file)
    if kept != name:
        raise UserError("lab", f"clock source {name}", f"the kernel stays with {kept}")


@contextmanager
def switching(folder: Path = CLOCKSOURCE_FOLDER) -> Iterator[Callable[[str], None]]:
    """Yields what chooses a source; the one that was there before is back when this is left."""
    before = read(folder / CURRENT)
    if before is None:
        raise UserError("lab", str(folder / CURRENT), "cannot be read")
    read_end, write_end = os.pipe()  # close-on-exec: no program started from here keeps it open
    ready, tell_ready = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.close(write_end)
        _guard(read_end, tell_ready, before, folder)
    os.close(read_end)
    os.close(tell_ready)
    try:
        # A signal to our whole group may have ended a guard that was not deaf yet.
        if os.read(ready, 1) == b"":
            raise UserError("lab", f"clock source {before}", "the guard has ended; not switched")
        yield lambda name: choose(name, folder)
    finally:
        os.close(ready)
        os.close(write_end)
        _, status = os.waitpid(guard, 0)
        if status != 0 and read(folder / CURRENT) != before:
            raise UserError(
                "lab",
                f"clock source {before}",
                f"could not be put back; it is {read(folder / CURRENT)}",
                hint=f"echo {before} > {folder / CURRENT}",
            )


def _guard(read_end: int, tell_ready: int, before: str, folder: Path) -> NoReturn:
    status = 1
    try:
        os.setsid()
        for number in DEAF_TO:
            signal.signal(number, signal.SIG_IGN)
        os.write(tell_ready, b"r")
        os.read(read_end, 1)
        choose(before, folder)
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is flushed or cleaned up twice
