# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cross-check with a tracer."""

import json
import os
import struct

import pytest

from timens_analysis.errors import UserError
from timens_analysis.study.uftrace import FUNCTIONS, durations


def entry(at, address):
    return struct.pack("<QQ", at, address << 16)


def leave(at, address):
    return struct.pack("<QQ", at, address << 16 | 1)


def trace(calls, spent):
    at, data = 100, entry(100, 1)
    for place, _ in enumerate(FUNCTIONS):
        for _ in range(calls):
            data += entry(at, 10 + place)
            at += spent[place]
            data += leave(at, 10 + place)
    return data + leave(at, 1)


def test_every_call_is_read_from_its_entry_and_exit():
    spent = [30, 210, 240, 320, 260, 60, 61]

    assert {name: list(ns) for name, ns in durations(trace(3, spent), 3).items()} == {
        name: [spent[place]] * 3 for place, name in enumerate(FUNCTIONS)
    }


def test_a_trace_that_lost_records_is_refused():
    with pytest.raises(UserError, match="13 calls in the trace: expected 14"):
        durations(trace(2, [1] * 7)[:-48] + leave(9, 1), 2)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="a time namespace alone needs root")
def test_the_empty_function_is_always_there(study):
    done = study("uftrace", "--calls", "500", "--rounds", "2", "--json")

    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["function"] for row in rows] == list(FUNCTIONS)
    assert rows[0]["function"] == "empty"
    for row in rows[1:]:
        assert row["host_ns"] > rows[0]["host_ns"]
