# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-bench measure`: one valid record per metric, with everything that was counted."""

from __future__ import annotations

import json
import os

import pytest

from .conftest import Bench, Measure

PAPER = [
    "clock_getres",
    "clock_gettime_monotonic",
    "vdso_clock_gettime_monotonic",
    "clock_gettime_boottime",
    "vdso_clock_gettime_boottime",
    "gettimeofday",
    "vdso_gettimeofday",
    "timer_create",
    "timer_settime",
    "timer_getoverrun",
    "timer_delete",
    "timerfd_create",
    "timerfd_settime",
    "nanosleep",
    "clock_nanosleep",
]

ONE_SLEEP = "nanosleep=1,clock_nanosleep=1"


def test_the_papers_metrics_give_fifteen_records(measure: Measure) -> None:
    records = measure("--metrics", "paper", "--calls", ONE_SLEEP)

    assert sorted(r["metric"] for r in records) == sorted(PAPER)


def test_records_come_in_the_order_of_the_request(measure: Measure) -> None:
    order = ["getppid", "vdso_gettimeofday", "clock_getres"]

    records = measure("--metrics", ",".join(order))

    assert [(r["metric"], r["position"]) for r in records] == [
        (name, i) for i, name in enumerate(order)
    ]


def test_batches_add_up_to_the_totals(measure: Measure) -> None:
    calls, batch = 1000, 100

    [record] = measure("--metrics", "getppid", "--calls", "getppid=1000", "--batch", "getppid=100")

    assert (record["calls"], record["batch"]) == (calls, batch)
    assert len(record["batch_ticks"]) == calls // batch
    assert sum(record["batch_ticks"]) == record["total_ticks"]
    assert min(record["batch_ticks"]) > 0


def test_calls_are_rounded_up_to_whole_batches(measure: Measure) -> None:
    [record] = measure("--metrics", "getppid", "--calls", "getppid=201", "--batch", "getppid=100")

    assert record["calls"] == 300


def test_two_halves_of_a_pair_come_from_the_same_pairs(measure: Measure) -> None:
    """Both are printed where the first of them stands, with the same circumstances."""
    records = measure(
        "--metrics", "timer_delete,getppid,timer_create", "--calls", "timer_create=500"
    )

    assert [r["metric"] for r in records] == ["timer_delete", "timer_create", "getppid"]
    delete, create = records[:2]
    assert delete["wall_start_s"] == create["wall_start_s"]
    assert (delete["position"], create["position"]) == (0, 0)
    assert (delete["calls"], create["calls"]) == (500, 500)
    assert delete["batch_ticks"] != create["batch_ticks"]


def test_half_of_a_pair_can_be_asked_for_alone(measure: Measure) -> None:
    records = measure("--metrics", "timer_delete")

    assert [r["metric"] for r in records] == ["timer_delete"]


def test_sleeps_keep_every_elapsed_time_and_say_what_was_asked(measure: Measure) -> None:
    [record] = measure("--metrics", "clock_nanosleep", "--calls", "clock_nanosleep=2")

    assert (record["batch"], record["calls"], len(record["batch_ticks"])) == (1, 2, 2)
    assert (record["requested_ns"], record["timerslack_ns"]) == (100_000_000, 1)
    assert record["voluntary_switches"] >= 2


@pytest.mark.parametrize("name", ["nanosleep", "clock_nanosleep", "clock_nanosleep_abs"])
def test_a_sleep_takes_at_least_what_was_asked(measure: Measure, name: str) -> None:
    [record] = measure("--metrics", name, "--calls", f"{name}=1", "--ticks", "clock_monotonic_raw")

    # RAW is not slewed and the sleeping clock may be, by at most 500 ppm (adjtimex(2)).
    assert record["total_ticks"] >= record["requested_ns"] * 0.9995


def test_a_worker_stays_on_the_cpu_that_it_was_given(measure: Measure) -> None:
    cpu = max(os.sched_getaffinity(0))

    [record] = measure("--metrics", "getppid", "--cpu", str(cpu))

    assert (record["cpu_start"], record["cpu_end"]) == (cpu, cpu)
    assert "migrated" not in record["flags"]


def test_a_block_is_put_into_the_record(measure: Measure) -> None:
    [record] = measure("--metrics", "getppid", "--block", "7")

    assert record["block"] == 7


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--metrics", "nonsense"], "--metrics: 'nonsense' is not a metric"),
        (["--metrics", "getppid,getppid"], "--metrics: getppid is named twice"),
        (["--metrics", "getppid,paper,paper"], "--metrics: clock_getres is named twice"),
        (["--metrics", ""], "--metrics: '' is not a metric"),
        (["--calls", "getppid"], "--calls: 'getppid' is not NAME=N"),
        (["--calls", "getppid=0"], "--calls: '0' is not a number from 1 to 1000000000"),
        (["--calls", "getppid=-1"], "--calls: '-1' is not a number from 1 to 1000000000"),
        (["--batch", "getppid=1e3"], "--batch: '1e3' is not a number from 1 to 10000000"),
        (["--batch", "nanosleep=2"], "--batch: nanosleep: every sleep is kept on its own"),
        (["--cpu", "x"], "--cpu: 'x' is not the number of a CPU"),
        (["--block", ""], "--block: '' is not the number of a block"),
        (["--ticks", "sundial"], "--ticks: 'sundial' is not a counter"),
        (["surplus"], "measure: 'surplus' is not an option"),
        (
            ["--metrics", "timer_create", "--calls", "timer_create=500,timer_delete=250"],
            "timer_create and timer_delete are timed from the same pairs",
        ),
        (
            ["--metrics", "getppid", "--calls", "getppid=1000001", "--batch", "getppid=1"],
            "getppid: more than 1000000 batches",
        ),
    ],
)
def test_a_wrong_request_is_refused_before_anything_is_measured(
    bench: Bench, args: list[str], message: str
) -> None:
    result = bench("measure", *args)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == f"timens-bench: {message}"


def test_a_batch_that_the_limit_of_files_forbids_is_told(bench: Bench) -> None:
    import resource

    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    result = bench("measure", "--metrics", "timerfd_create", preexec_fn=few_files)

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "timens-bench: 200 open files: Invalid argument\n"
        "hint: use a smaller --batch, or raise the limit: ulimit -n\n"
    )


def test_the_table_shows_nanoseconds_to_people(bench: Bench) -> None:
    result = bench("measure", "--table", "--metrics", "vdso_clock_gettime_monotonic")

    assert result.returncode == 0
    head, row = result.stdout.splitlines()
    assert head.split() == ["metric", "route", "median", "ns", "p10", "ns", "mean", "ns", "calls"]
    name, route, median_ns, p10_ns = row.split()[:4]
    assert (name, route) == ("vdso_clock_gettime_monotonic", "vdso")
    assert 0 < float(p10_ns) <= float(median_ns)


def test_list_describes_each_metric(bench: Bench) -> None:
    result = bench("list", "--json")

    rows = json.loads(result.stdout)
    assert [row["name"] for row in rows if row["set"] == "paper"] == PAPER
    assert all(row["timed"] and row["outside"] and row["source"] for row in rows)
    assert {row["name"] for row in rows if row["control"] == "negative"} >= {
        "getppid",
        "gettimeofday",
        "clock_getres",
    }


def test_list_can_be_asked_for_as_an_option(bench: Bench) -> None:
    assert bench("--list").stdout == bench("list").stdout != ""


def test_calibrate_finds_what_a_tick_is_worth(bench: Bench) -> None:
    """Two calibrations agree to 2 parts in a million: each is between two bracketed points."""
    first, second = (json.loads(bench("calibrate").stdout) for _ in range(2))

    assert first["ns_per_tick"] == pytest.approx(second["ns_per_tick"], rel=2e-6)
    assert first["clock_source_of_ticks"] in ("rdtscp", "cntvct", "clock_monotonic_raw")
    assert first["tick_granularity"] >= 1
