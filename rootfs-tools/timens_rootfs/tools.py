# SPDX-License-Identifier: LGPL-2.1-or-later
"""Find the programs that do the work, run them, and turn what they say into one error."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from timens_rootfs.errors import RootfsError

# Program -> the Debian package that brings it.
PACKAGES = {
    "busybox": "busybox-static",
    "ldconfig": "libc-bin",
    "newuidmap": "uidmap",
    "setpriv": "util-linux",
    "umount": "mount",
    "unshare": "util-linux",
    "xz": "xz-utils",
}
# A program must not go on writing for somebody who was killed.
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
# apt and mmdebstrap live in folders that a plain user's PATH may lack.
SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"
CAUSE_LINES = 3
GRACE_S = 20.0
# How the tools mark what went wrong: logfmt (skopeo), apt and dpkg, umoci, tar.
LOGFMT = re.compile(r'level=(?:fatal|error) msg="((?:[^"\\]|\\.)*)"')
ERROR_LINE = re.compile(r"^(?:E:|FATA\[\d+\]|ERRO\[\d+\]|[Ee]rror:?|tar: |⨯)\s*(.*)")
HINTS = {
    "server gave HTTP response to HTTPS client": "a plain registry wants --insecure",
    "certificate": "a registry with a certificate of its own wants --insecure",
    "unauthorized": "give --creds USER:PASSWORD, or log in: skopeo login HOST",
    "authentication required": "give --creds USER:PASSWORD, or log in: skopeo login HOST",
    "manifest unknown": "see which tags there are: skopeo list-tags docker://HOST/NAME",
    "connection refused": "is the registry up, and HOST:PORT right?",
    "no such host": "is HOST right, and the network up?",
    "choose an image": "say which one: --image NAME",
    "more than one image": "say which one: --image NAME",
    "Wrote only": "free some space, or choose another disk",
    "o space left on device": "free some space, or choose another disk",
}


def find(program: str, *, step: str) -> Path:
    """The path of a program; a missing one is an error that names its package."""
    found = shutil.which(program, path=SEARCH_PATH)
    if found is None:
        package = PACKAGES.get(program, program)
        raise RootfsError(step, program, "program not found", f"apt-get install {package}")
    return Path(found)


# Descriptors that every program inherits: the locks of stages, held until the last one ends.
kept_open: set[int] = set()


class Running:
    """A program at work, whose words are kept until it is clear how it ended."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        words: IO[bytes],
        name: str,
        step: str,
        thing: object,
    ) -> None:
        self.process = process
        self._words = words
        self._name = name
        self._step = step
        self._thing = thing

    def finish(self) -> bytes:
        """Wait for its end; returns its standard output, if that was asked for.

        A program that fails becomes a RootfsError whose cause is what it said.
        """
        output, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise self.failure()
        return output or b""

    def failure(self) -> RootfsError:
        """The error for a program that went wrong."""
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")
        cause = last_words(words, self.process.wait())
        hint = next((hint for text, hint in HINTS.items() if text in words), None)
        return RootfsError(self._step, self._thing, f"{self._name}: {cause}", hint)


@contextlib.contextmanager
def running(
    argv: Sequence[str | Path],
    *,
    step: str,
    thing: object,
    env: Mapping[str, str] | None = None,
    name: str | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[Running]:
    """Start a program, which errors call `name`.

    When the block is left early the program gets the signal `stop`, and it is waited for.
    """
    find(str(argv[0]), step=step)
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            [*DIES_WITH_US, *argv],
            executable=find(DIES_WITH_US[0], step=step),
            stdin=stdin,
            stdout=stdout,
            stderr=words,
            env={**os.environ, "PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8", **(env or {})},
            pass_fds=tuple(kept_open),
        )
        try:
            yield Running(process, words, name or str(argv[0]), step, thing)
        finally:
            _stop(process, stop)


def run(
    argv: Sequence[str | Path],
    *,
    step: str,
    thing: object,
    env: Mapping[str, str] | None = None,
    name: str | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> str:
    """Run a program to its end; returns its standard output."""
    with running(
        argv, step=step, thing=thing, env=env, name=name, stdout=subprocess.PIPE, stop=stop
    ) as program:
        return program.finish().decode(errors="replace")


def _stop(process: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what was not written is not wanted any more
                pipe.close()
    if process.poll() is None:
        process.send_signal(stop)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def last_words(words: str, status: int) -> str:
    """What a failed program said, in one line: its errors, or else its last line."""
    if "Wrote only" in words:  # all that tar(1) says of a full disk
        return "No space left on device"
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [match[1].replace('\\"', '"') for line in lines if (match := LOGFMT.search(line))]
    if not errors:
        errors = [match[1] for line in lines if (match := ERROR_LINE.search(line)) and match[1]]
    said = (errors or lines[-1:])[:CAUSE_LINES]
    return "; ".join(said) if said else f"exit status {status}"
