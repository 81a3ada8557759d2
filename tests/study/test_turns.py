# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who runs when: workers of one block take turns, sleepers lie side by side."""

import json
from itertools import pairwise

CALLS = "getppid,rdtscp"


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_workers_of_a_block_are_alive_together_and_end_together(smoke):
    """Each metric of a block is finished by all arms before the next one begins."""
    by_block = {}
    for record in records(smoke):
        if "sleep" not in record["metric"] and record["attempt"] == 1:
            assert record["batches_per_turn"] == 4
            by_block.setdefault(record["block"], []).append(record)
    for block in by_block.values():
        places = [record["position"] for record in block]
        assert places == sorted(places)


def test_the_records_of_one_metric_overlap_in_time_over_the_arms(study, rootfs, tmp_path):
    """Each arm begins before the one that began before it is done: one after another none would.

    The busy time of a record leaves out its waits for a turn, so that it ends later than that.
    """
    done = study(
        *("run", "--profile", "quick", "--blocks", "1", "--no-report", "--metrics", CALLS),
        *("--rootfs", rootfs, "--output", tmp_path / "run"),
    )
    assert done.returncode == 0, done.stderr
    seconds_per_tick = json.loads((tmp_path / "run/environment.json").read_text())["ns_per_tick"]
    for metric in CALLS.split(","):
        mine = [r for r in records(tmp_path / "run") if r["metric"] == metric]
        spans = sorted(
            (r["wall_start_s"], r["wall_start_s"] + r["total_ticks"] * seconds_per_tick * 1e-9)
            for r in mine
        )
        assert len(spans) == 4
        for (_, end), (next_start, _) in pairwise(spans):
            assert next_start < end


def test_sleepers_of_all_arms_sleep_at_the_same_time(smoke):
    sleeps = [r for r in records(smoke) if r["metric"] == "nanosleep"]
    starts = [r["wall_start_s"] for r in sleeps]

    assert len(sleeps) == 12
    assert max(starts) - min(starts) < 12 * 0.1  # 12 sleeps of 100 ms one after another
    assert all("batches_per_turn" not in r for r in sleeps)


def test_the_sequential_design_uses_one_process_for_all_records_of_a_level(study, rootfs, tmp_path):
    done = study(
        *("run", "--profile", "smoke", "--design", "sequential", "--no-report"),
        *("--metrics", CALLS, "--rootfs", rootfs, "--output", tmp_path / "run"),
    )
    assert done.returncode == 0, done.stderr
    mine = records(tmp_path / "run")
    assert [r["arm"] for r in mine] == [
        arm for arm in ("baseline", "baseline_aa", "timens", "container") for _ in range(6)
    ]
    pids = {(r["arm"], r["metric"]): set() for r in mine}
    for record in mine:
        pids[record["arm"], record["metric"]].add(record["pid"])
    assert all(len(each) == 1 for each in pids.values())


def test_every_block_enters_its_arms_anew_and_a_level_after_the_other_does_not(
    study, rootfs, tmp_path
):
    """What a process hands down to its workers must not last for a whole run."""
    entered = tmp_path / "entered"
    for design, entries in (("blocks", 1 + 3), ("sequential", 1 + 1)):  # one is for the header
        entered.write_text("")
        done = study(
            *("run", "--profile", "smoke", "--design", design, "--no-report", "--metrics", CALLS),
            *("--arms", "baseline", "--rootfs", rootfs, "--output", tmp_path / design),
            *("--arm", f"told=sh -c 'echo >>{entered}; exec {{bench}} \"$@\"' sh"),
        )
        assert done.returncode == 0, done.stderr
        assert entered.read_text().count("\n") == entries
