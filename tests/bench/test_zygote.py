# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-bench zygote`: one fresh process for every line, in the place of the zygote."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from typing import Any

from .conftest import Bench


def converse(bench: Bench, *lines: str, **more: Any) -> tuple[list[dict[str, Any]], str]:
    result = bench("zygote", input="".join(line + "\n" for line in lines), **more)
    assert result.returncode == 0
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_a_zygote_says_that_it_is_ready_and_ends_with_its_input(bench: Bench) -> None:
    answers, stderr = converse(bench)

    assert [a["zygote"] for a in answers] == ["ready"]
    assert answers[0]["pid"] > 0
    assert stderr == ""


def test_every_line_is_measured_by_a_process_of_its_own(bench: Bench) -> None:
    line = "measure --metrics getppid --calls getppid=200"

    answers, _ = converse(bench, line, line)

    ready, first, end, second, last = answers
    assert end == last == {"zygote": "end", "status": 0}
    assert len({ready["pid"], first["pid"], second["pid"]}) == 3


def test_a_worker_inherits_the_cpu_of_its_zygote(bench: Bench) -> None:
    cpu = min(os.sched_getaffinity(0))

    answers, _ = converse(
        bench,
        "measure --metrics getppid --calls getppid=200",
        preexec_fn=lambda: os.sched_setaffinity(0, {cpu}),
    )

    assert answers[1]["cpu_start"] == cpu


def test_a_wrong_line_is_answered_and_the_next_is_served(bench: Bench) -> None:
    answers, stderr = converse(
        bench, "measure --metrics nonsense", "list", "", "measure --metrics getppid"
    )

    assert [a["status"] for a in answers if a.get("zygote") == "end"] == [2, 2, 2, 0]
    assert stderr.splitlines()[0] == "timens-bench: --metrics: 'nonsense' is not a metric"
    assert "zygote: a line must start with 'measure': list" in stderr


def test_a_worker_that_is_killed_is_answered_with_its_signal(program: Path) -> None:
    with subprocess.Popen(
        [program, "zygote"], stdin=PIPE, stdout=PIPE, text=True, bufsize=1
    ) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        print("measure --metrics getppid --turns 1", file=zygote.stdin)
        answers = [json.loads(zygote.stdout.readline()) for _ in range(2)]
        assert answers[1] == {"turn": "wanted"}
        worker = subprocess.check_output(["pgrep", "-P", str(zygote.pid)], text=True)

        os.kill(int(worker), signal.SIGKILL)

        assert json.loads(zygote.stdout.readline()) == {"zygote": "end", "status": 128 + 9}
        zygote.stdin.close()
        assert zygote.stdout.read() == ""


def test_workers_take_turns_and_do_nothing_between_them(program: Path) -> None:
    """Two zygotes, one turn each: the records come after the last turn, complete."""
    line = "measure --metrics getppid,timer_create --calls getppid=600,timer_create=500 --turns 1"
    turns = 600 // 200 + 500 // 250
    with ExitStack() as stack:
        zygotes = [
            stack.enter_context(
                subprocess.Popen([program, "zygote"], stdin=PIPE, stdout=PIPE, text=True, bufsize=1)
            )
            for _ in range(2)
        ]
        heard: list[list[str]] = [[], []]

        def hear(i: int, count: int = 1) -> None:
            for _ in range(count):
                stdout = zygotes[i].stdout
                assert stdout is not None
                message = json.loads(stdout.readline())
                heard[i].append(next(iter(message)))

        for i, zygote in enumerate(zygotes):
            print(line, file=zygote.stdin)
            hear(i, 2)
        for turn in range(1, turns + 1):
            for i, zygote in enumerate(zygotes):
                print(file=zygote.stdin)
                hear(i, 2 if turn in (3, turns) else 1)
        for zygote in zygotes:
            assert zygote.stdin is not None
            zygote.stdin.close()

    expected = ["zygote", "turn", "turn", "turn", "metric", "turn", "turn", "metric", "zygote"]
    assert heard == [expected, expected]


def test_a_worker_without_anybody_to_give_turns_says_so(bench: Bench) -> None:
    result = bench("measure", "--metrics", "getppid", "--turns", "1", input="")

    assert (result.returncode, result.stdout) == (1, '{"turn":"wanted"}\n')
    assert result.stderr.splitlines()[0] == "timens-bench: nobody gives turns: end of file"


def test_sleeps_refuse_turns(bench: Bench) -> None:
    result = bench("measure", "--metrics", "getppid,nanosleep", "--turns", "1", input="")

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == (
        "timens-bench: --turns: nanosleep: sleeps run side by side, not in turns"
    )
