# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-bench zygote`: one fresh process for every line, in the place of the zygote."""

from __future__ import annotations

import json
import os
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


def test_a_worker_that_is_killed_is_answered_with_its_signal(bench: Bench) -> None:
    def limit_cpu_time() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))

    answers, _ = converse(
        bench,
        "measure --metrics getppid --calls getppid=900000000",
        preexec_fn=limit_cpu_time,
    )

    assert answers[-1] == {"zygote": "end", "status": 128 + 9}
