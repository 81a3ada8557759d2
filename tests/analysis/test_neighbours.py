# SPDX-License-Identifier: LGPL-2.1-or-later
"""Workers that took turns are compared batch by batch, and are still one value for each block."""

import csv
import json

import numpy as np
import pytest
from synthetic_run import NS_PER_TICK, make_run, pack

from timens_analysis import cli, neighbours
from timens_analysis.blocks import differences
from timens_analysis.compare import analyse
from timens_analysis.load import batch_ticks, load_run
from timens_analysis.results import Options
from timens_analysis.stats import paired

VDSO = "vdso_clock_gettime_monotonic"
SPELL_TICKS = 20_000
TURN = {"batches_per_turn": 4, "batch": 1000}


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def write(folder, found):
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in found))


def in_spells(folder, seed=5):
    """The same run on a core that somebody shares half of the time, for one batch in ten only
    while one of the arms has its turn."""
    rng = np.random.default_rng(seed)
    found = records(folder)
    for record in found:
        ticks = batch_ticks(record)
        spells = np.random.default_rng([record["block"]]).random(ticks.size) < 0.5
        spells ^= rng.random(ticks.size) < 0.1
        record |= {"batches_per_turn": 4}
        record["batch_ticks"] = pack(ticks + SPELL_TICKS * spells)
    write(folder, found)


def test_a_spell_that_both_workers_meet_leaves_no_difference():
    """The medians differ by the height of the spell, because one worker met it once more."""
    x = np.array([100, 100, 150, 150, 150])
    y = np.array([100, 100, 149, 150, 100])
    rows = [{"arm": "a", **TURN}, {"arm": "b", **TURN}]

    assert np.median(x) - np.median(y) == 50
    assert neighbours.differences(rows, {"a": x, "b": y}) == {("a", "b"): 0.0}


def test_exchanging_the_arms_changes_the_sign_and_nothing_else():
    rng = np.random.default_rng(2)
    for n in (5, 6):
        x, y = rng.integers(90, 200, n), rng.integers(90, 200, n)
        rows = [{"arm": "a", **TURN}, {"arm": "b", **TURN}]
        one = neighbours.differences(rows, {"a": x, "b": y})
        other = neighbours.differences(rows, {"a": y, "b": x})
        assert one["a", "b"] == -other["a", "b"]


@pytest.mark.parametrize(
    ("other", "batches"),
    [
        ({}, 6),  # ran alone
        ({"batches_per_turn": 20}, 6),
        ({"batch": 500}, 6),
        ({}, 5),
    ],
)
def test_batches_that_did_not_run_side_by_side_are_not_paired(other, batches):
    turn = TURN if batches == 5 else {"batch": 1000, **({"batches_per_turn": 4} | other)}
    if not other and batches == 6:
        turn = {"batch": 1000}
    rows = [{"arm": "a", **TURN}, {"arm": "b", **turn}]

    assert neighbours.differences(rows, {"a": np.arange(6), "b": np.arange(batches)}) == {}


def test_spells_widen_the_difference_of_medians_and_not_that_of_neighbours(tmp_path):
    folder = make_run(tmp_path / "run", metrics=(VDSO, "nanosleep"), batches=41, blocks=40)
    in_spells(folder)
    run = load_run(folder)
    host, timens = run.metrics[0].levels[:2]
    gaps = differences(run.metrics[0], timens, host).gaps
    found = analyse(run.metrics, Options(), run.problems).metrics[0].pairs[0].paired

    assert gaps.std() < 0.5 * (timens.values - host.values).std()
    assert found.median.low < 0.81 < found.median.high


def test_every_pair_of_arms_has_one_value_for_each_block_in_either_order(tmp_path):
    folder = make_run(tmp_path / "run", metrics=(VDSO,), blocks=8)
    in_spells(folder)
    metric = load_run(folder).metrics[0]
    host, timens = metric.levels[0], metric.levels[1]
    forward, back = differences(metric, timens, host), differences(metric, host, timens)
    ticks = {
        r["arm"]: batch_ticks(r) for r in records(folder) if r["block"] == 3
    }  # one metric: one record for each arm

    assert forward.blocks == list(range(8))
    assert (forward.gaps == -back.gaps).all()
    assert forward.gaps[3] == pytest.approx(
        np.median(ticks["timens"] - ticks["baseline"]) * NS_PER_TICK / 1000
    )


def test_a_block_without_turns_makes_all_of_them_differences_of_medians(tmp_path):
    """Two kinds of values must not be mixed in one test."""
    folder = make_run(tmp_path / "run", metrics=(VDSO,), blocks=8)
    in_spells(folder)
    found = records(folder)
    for record in found:
        if record["block"] == 2:
            del record["batches_per_turn"]
    write(folder, found)
    metric = load_run(folder).metrics[0]
    host, timens = metric.levels[0], metric.levels[1]

    assert (differences(metric, timens, host).gaps == timens.values - host.values).all()


def test_differences_csv_holds_what_was_tested(tmp_path):
    folder = make_run(tmp_path / "run", metrics=(VDSO,), blocks=12)
    in_spells(folder)
    assert cli.main(["report", str(folder), "--formats", "json,differences"]) == 0
    pair = json.loads((folder / "report.json").read_text())["metrics"][0]["pairs"][0]
    with (folder / "differences.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["i_level"] == pair["i_level"]]
    mine = [float(r["difference_ns"]) for r in rows if r["j_level"] == pair["j_level"]]

    assert len(mine) == 12
    assert np.median(mine) == pair["paired"]["median_difference"]["estimate"]


def test_a_few_differences_among_many_zeros_are_tested_exactly():
    """Five equal signs have a probability of 2 / 2^5, however many blocks showed no difference."""
    few = np.array([0.0] * 67 + [0.1, 0.2, 0.3, 0.4, 0.5])

    assert paired.wilcoxon(few).p == pytest.approx(2 / 2**5)
