# SPDX-License-Identifier: LGPL-2.1-or-later
"""records.jsonl: what was finished is never lost, what was torn is cut off."""

import json
import resource
import signal

import pytest

from timens_analysis.errors import UserError
from timens_analysis.load import batch_ticks
from timens_analysis.study.journal import FolderLock, Journal, is_locked

MEASURED = {
    "metric": "clock_getres",
    "route": "raw",
    "position": 0,
    "pid": 1,
    "calls": 400,
    "batch": 200,
    "total_ticks": 7,
    "batch_ticks": [3, 4],
    "flags": [],
}


def fill(path, blocks):
    with Journal(path) as journal:
        for block in blocks:
            journal.append("baseline", block, MEASURED)


def test_records_are_numbered_over_sessions_and_attempts_counted(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, [0, 1])
    fill(path, [1, 2])

    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(r["seq"], r["block"], r["attempt"]) for r in records] == [
        (0, 0, 1),
        (1, 1, 1),
        (2, 1, 2),
        (3, 2, 1),
    ]


def test_the_study_decides_the_block_whatever_the_worker_says(tmp_path):
    with Journal(tmp_path / "r") as journal:
        assert journal.append("timens", 5, {**MEASURED, "block": 77})["block"] == 5


def test_packed_batches_come_back_as_they_were(tmp_path):
    ticks = [0, 1, 2**40, 12345]
    with Journal(tmp_path / "r") as journal:
        record = journal.append("timens", 0, {**MEASURED, "batch_ticks": ticks})

    assert list(batch_ticks(record)) == ticks


@pytest.mark.parametrize("torn", ['{"schema":"timens-rec', '{"schema":"x"', "\0\0\0\0\n"])
def test_a_torn_last_line_is_cut_off_and_the_rest_kept(tmp_path, torn):
    path = tmp_path / "records.jsonl"
    fill(path, [0, 1])
    whole = path.read_bytes()
    with path.open("a") as file:
        file.write(torn)

    with Journal(path) as journal:
        assert (journal.count, journal.has(("baseline", 1, "clock_getres"))) == (2, True)
    assert path.read_bytes() == whole


def test_damage_in_the_middle_is_refused_with_its_line(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, [0])
    line = path.read_text()
    path.write_text(line + "garbage\n" + line)

    with pytest.raises(UserError, match=r"records.jsonl:2: not a record, and not the last line"):
        Journal(path)


def test_a_record_that_does_not_fit_leaves_no_half_line(tmp_path):
    """A file size limit fails like a full disk: some bytes are written, the rest is refused."""
    path = tmp_path / "records.jsonl"
    fill(path, [0])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Journal(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(UserError) as caught:
                journal.append("baseline", 1, MEASURED)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
        assert str(caught.value) == f"records: {path}: File too large"
        assert caught.value.hint == f"make room, then: timens-study resume {tmp_path}"
        assert path.read_bytes() == before

        journal.append("baseline", 1, MEASURED)
    assert len(path.read_text().splitlines()) == 2


def test_a_second_writer_is_refused_until_the_first_has_gone(tmp_path):
    first = FolderLock(tmp_path)
    assert is_locked(tmp_path)
    with pytest.raises(UserError, match=r"process \d+ is writing here"):
        FolderLock(tmp_path)

    first.release()
    assert not is_locked(tmp_path)
    FolderLock(tmp_path).release()
