# SPDX-License-Identifier: LGPL-2.1-or-later
"""records.jsonl: one line for each finished record, appended, never changed.

A line that was written is kept through SIGKILL (write(2) straight to the file, no buffer of ours)
and, after sync(), through a power cut.  A line that was torn, by a full disk or by a cut, is cut
off again, at once or when the file is next opened.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import zlib
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from timens_analysis.errors import UserError

Key = tuple[str, int, str]  # arm, block, metric
TALLIED = {"arm", "block", "metric", "attempt", "seq"}
RECORD_SCHEMA = "timens-record/1"
BATCH_ENCODING = "int64le+zlib+base64"


def pack_batches(ticks: Iterable[int]) -> dict[str, Any]:
    """Batch values as the record schema keeps them: about a fifth of the plain array."""
    values = array("q", ticks)
    data = base64.b64encode(zlib.compress(values.tobytes(), 6)).decode("ascii")
    return {"encoding": BATCH_ENCODING, "count": len(values), "data": data}


class FolderLock:
    """One writer for each results folder; the kernel drops the lock when the process ends."""

    def __init__(self, folder: Path) -> None:
        self._fd = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip()
            os.close(self._fd)
            raise UserError(
                "lock",
                str(folder),
                f"process {owner or 'of another study'} is writing here",
                hint="wait for it, or choose another folder with --output",
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in; the file stays, because removing it would let two in."""
        os.close(self._fd)


def is_locked(folder: Path) -> bool:
    """Whether a study is writing in this folder now."""
    try:
        fd = os.open(folder / ".lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


class Journal:
    """The records of one run, open for appending by one process (see FolderLock)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._attempts: dict[Key, int] = {}
        self.count = 0
        try:
            self._end = self._recover()
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def _recover(self) -> int:
        """Tallies what is there and cuts a torn last line off; returns the length that is good."""
        end = 0
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    record = None
                if not isinstance(record, dict) or not record.keys() >= TALLIED:
                    if file.read(1):
                        raise UserError(
                            "records",
                            f"{self._path}:{number}",
                            "not a record, and not the last line",
                            hint="the file was changed by hand; restore it from a copy",
                        )
                    break
                self._tally(record)
                end += len(line)
        if os.fstat(self._fd).st_size > end:
            os.ftruncate(self._fd, end)
        return end

    def _tally(self, record: Mapping[str, Any]) -> None:
        key = (record["arm"], record["block"], record["metric"])
        self._attempts[key] = max(self._attempts.get(key, 0), record["attempt"])
        self.count = max(self.count, record["seq"] + 1)

    def has(self, key: Key) -> bool:
        """Whether a record of this arm, block and metric was ever finished."""
        return key in self._attempts

    def attempts(self, key: Key) -> int:
        """How often it was measured so far."""
        return self._attempts.get(key, 0)

    def append(self, arm: str, block: int, measured: Mapping[str, Any]) -> dict[str, Any]:
        """Writes one record as timens-bench printed it; returns it as written, batches packed.

        Raises UserError when it does not fit on the disk; the file then ends with the last
        record that did.
        """
        record: dict[str, Any] = {
            "schema": RECORD_SCHEMA,
            "seq": self.count,
            "arm": arm,
            "attempt": self.attempts((arm, block, measured["metric"])) + 1,
            **measured,
            "block": block,
        }
        if not isinstance(record["batch_ticks"], dict):
            record["batch_ticks"] = pack_batches(record["batch_ticks"])
        self._write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        self._tally(record)
        return record

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as problem:
            os.ftruncate(self._fd, self._end)
            raise UserError(
                "records",
                str(self._path),
                os.strerror(problem.errno or 0),
                hint=f"make room, then: timens-study resume {self._path.parent}",
            ) from None
        self._end += len(line)

    def sync(self) -> None:
        """Everything appended so far survives a power cut."""
        os.fsync(self._fd)
