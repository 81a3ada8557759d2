# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured in which order."""

from collections import Counter

import pytest

from timens_analysis.study.plan import MOST_SLEEPERS, PROFILES, Metric, plan, sleep_workers

ARMS = ["baseline", "baseline_aa", "timens", "container"]
METRICS = [
    Metric("clock_getres", "raw", "call", "negative", 2000, 200),
    Metric("vdso_clock_gettime_monotonic", "vdso", "call", None, 4000, 1000),
    Metric("timer_create", "raw", "call", None, 1000, 250),
    Metric("nanosleep", "raw", "sleep", None, 4, 1),
    Metric("clock_nanosleep", "raw", "sleep", None, 4, 1),
]


def planned(design="blocks", *, blocks=12, seed=7, replicates=1):
    return list(
        plan(design, ARMS, METRICS, blocks=blocks, sleepers=6, seed=seed, replicates=replicates)
    )


@pytest.mark.parametrize("design", ["blocks", "sequential"])
def test_every_arm_meets_every_metric_once_in_every_block(design):
    cells = Counter(cell for g in planned(design) for r in g.requests for cell in r.cells())

    assert set(cells) == {(a, b, m.name) for a in ARMS for b in range(12) for m in METRICS}
    assert set(cells.values()) == {1}


def test_all_arms_of_a_block_have_the_same_order_of_metrics():
    for group in planned():
        orders = {}
        for request in group.requests:
            orders.setdefault(request.blocks, set()).add(request.metrics)
        assert all(len(order) == 1 for order in orders.values())


def test_orders_of_arms_and_metrics_change_from_block_to_block():
    calls = [group for group in planned(blocks=60) if group.kind == "call"]

    first = Counter(group.requests[0].arm for group in calls)
    assert set(first) == set(ARMS)
    assert max(first.values()) < 30  # of 60; binomial(60, 1/4) exceeds this once in 10^5 plans
    assert len({group.requests[0].metrics for group in calls}) == 6  # all 3! orders


def test_the_same_seed_gives_the_same_plan_and_another_seed_another():
    assert planned(seed=1) == planned(seed=1)
    assert planned(seed=1) != planned(seed=2)


def test_a_block_does_not_depend_on_how_many_are_planned():
    assert planned(blocks=12)[:12] == [g for g in planned(blocks=24) if g.kind == "call"][:12]


def test_sleeps_come_after_all_calls_and_six_blocks_at_a_time():
    groups = planned()
    kinds = [group.kind for group in groups]

    assert kinds == ["call"] * 12 + ["sleep"] * 2
    assert [len(group.requests) for group in groups[12:]] == [24, 24]
    assert {block for r in groups[12].requests for block in r.blocks} == set(range(6))


def test_sequential_runs_level_after_level_with_one_process_for_each_metric():
    groups = planned("sequential")

    assert [g.requests[0].arm for g in groups] == [a for a in ARMS for _ in METRICS]
    assert all(len(g.requests) == 1 and len(set(g.requests[0].metrics)) == 1 for g in groups)


def test_replicates_are_separate_studies_with_their_own_blocks():
    blocks = [r.blocks[0] for g in planned(blocks=3, replicates=2) for r in g.requests]

    assert set(blocks) == set(range(6))
    half = len(blocks) // 2
    assert max(blocks[:half]) < min(blocks[half:])


@pytest.mark.parametrize("arms", range(2, 30))
def test_never_more_sleepers_than_wake_undisturbed(arms):
    workers = sleep_workers(PROFILES["paper"], arms)

    assert workers >= 1
    assert workers * arms <= MOST_SLEEPERS or workers == 1
