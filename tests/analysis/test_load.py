# SPDX-License-Identifier: LGPL-2.1-or-later
"""records.jsonl and environment.json -> nanoseconds, one value per process."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from synthetic_run import NS_PER_TICK, STEP_TICKS, make_run

from timens_analysis.errors import UserError
from timens_analysis.load import load_run

SCHEMAS = Path(__file__).parents[2] / "schemas"
VDSO = "vdso_clock_gettime_monotonic"


@pytest.fixture
def folder(tmp_path):
    return make_run(tmp_path / "run", blocks=8, metrics=(VDSO, "nanosleep"))


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def write(folder, found):
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in found))


def level(run, metric, name):
    found = next(m for m in run.metrics if m.name == metric)
    every = (*found.levels, found.aa)
    return next(x for x in every if x is not None and x.name == name)


def test_the_synthetic_run_follows_the_schemas(folder):
    schema = json.loads((SCHEMAS / "record.schema.json").read_text())
    for record in records(folder):
        jsonschema.validate(record, schema)
    environment = json.loads((folder / "environment.json").read_text())
    jsonschema.validate(environment, json.loads((SCHEMAS / "environment.schema.json").read_text()))


def test_a_value_is_the_median_over_batches_in_nanoseconds(folder):
    found = records(folder)
    mine = next(r for r in found if (r["arm"], r["metric"], r["block"]) == ("timens", VDSO, 3))
    mine["batch_ticks"] = [26_000, 26_026, 99_999_952]  # plain, as timens-bench prints them
    write(folder, found)
    value = level(load_run(folder), VDSO, "timens").values[3]
    assert value == pytest.approx(26_026 * NS_PER_TICK / 1000)  # the preempted batch counts once


def test_a_sleep_is_what_went_beyond_the_request(folder):
    run = load_run(folder)
    values = level(run, "nanosleep", "baseline").values
    assert ((values > 0) & (values < 100_000)).all()
    metric = next(m for m in run.metrics if m.name == "nanosleep")
    assert metric.base == 100_000_000


def test_levels_are_in_order_of_blocks_with_the_baseline_first(folder):
    found = records(folder)
    np.random.default_rng(1).shuffle(found)
    write(folder, found)
    metric = load_run(folder).metrics[0]
    assert [x.name for x in metric.levels] == ["baseline", "timens", "container"]
    assert metric.aa.name == "baseline_aa"
    assert metric.levels[1].blocks.tolist() == list(range(8))
    assert metric.resolution == pytest.approx(STEP_TICKS * NS_PER_TICK / 1000)


def test_of_a_record_that_was_measured_again_the_last_attempt_counts(folder):
    found = records(folder)
    first = next(r for r in found if (r["arm"], r["metric"], r["block"]) == ("timens", VDSO, 3))
    again = {**first, "attempt": 2, "seq": len(found), "batch_ticks": [52_000] * 3}
    disturbed = {**first, "flags": ["preempted"]}
    write(folder, [disturbed if r is first else r for r in found] + [again])
    run = load_run(folder)
    assert level(run, VDSO, "timens").values[3] == pytest.approx(52_000 * NS_PER_TICK / 1000)
    assert (run.conduct.remeasured, run.conduct.flags) == (1, {"preempted": 1})


def test_a_last_line_that_was_cut_off_is_left_out_and_said(folder):
    path = folder / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    run = load_run(folder)
    assert run.conduct.cut_off
    assert run.conduct.records == len(whole.splitlines()) - 1
    assert run.conduct.blocks_complete == 7


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda line: line[:30], "line 5: not JSON"),
        (lambda line: line.replace("timens-record/1", "other/1"), "line 5: the schema is not"),
    ],
)
def test_damage_in_the_middle_is_refused_with_its_line(folder, damage, cause):
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines()
    lines[4] = damage(lines[4])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=cause):
        load_run(folder)


def test_packed_batches_that_do_not_unpack_are_named(folder):
    found = records(folder)
    found[7]["batch_ticks"]["count"] += 1
    write(folder, found)
    where = f"{found[7]['metric']}, {found[7]['arm']}, block {found[7]['block']}"
    with pytest.raises(
        UserError, match=f"{where}: batch_ticks: 12 batches where 13 were announced"
    ):
        load_run(folder)


def test_levels_measured_one_after_another_are_not_paired(tmp_path):
    run = load_run(make_run(tmp_path / "s", blocks=6, metrics=(VDSO,), design="sequential"))
    assert not run.metrics[0].paired


def test_some_blocks_of_a_run_are_a_run(folder):
    run = load_run(folder, blocks=range(2, 5))
    assert run.metrics[0].levels[0].blocks.tolist() == [2, 3, 4]
    assert run.conduct.records == 3 * 4 * 2


def test_an_arm_or_metric_without_records_is_said(folder):
    gone = [r for r in records(folder) if r["metric"] != "nanosleep" and r["arm"] != "container"]
    write(folder, gone)
    told = [str(p) for p in load_run(folder).problems]
    assert told == [f"{VDSO}: container: no records", "nanosleep: no records"]


@pytest.mark.parametrize("name", ["environment.json", "records.jsonl"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"{name}: No such file or directory"):
        load_run(folder)
