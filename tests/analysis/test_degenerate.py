# SPDX-License-Identifier: LGPL-2.1-or-later
"""Samples that no test should be run on: said by metric and level, and never shown as a number."""

import json
import math

import numpy as np
import pytest

from timens_analysis import cli
from timens_analysis.compare import analyse
from timens_analysis.model import Level, Metric
from timens_analysis.report import build, html, latex, machine, markdown
from timens_analysis.results import Options

GOOD = [10.0, 11.0, 12.5, 9.0, 10.4, 11.1, 10.9, 9.7]
OTHER = [13.0, 14.0, 12.5, 15.0, 13.4, 14.1, 13.9, 12.7]


def metric(name="m", blocks=False, **levels):
    place = np.arange(100) if blocks else None
    return Metric(
        name,
        tuple(
            Level(level, np.array(v, dtype=float), place[: len(v)] if blocks else None)
            for level, v in levels.items()
        ),
    )


def analysed(*metrics, **options):
    return analyse(metrics, Options(**options))


def told(analysis):
    return [str(problem) for problem in analysis.problems]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([5.0] * 8, "m: timens: all 8 values are 5: without variance there is no test on means"),
        ([0.1] * 50, "m: timens: all 50 values are 0.1: without variance"),
        ([1.0, 2.0], "m: timens: 2 records; at least 3 are needed for a test"),
        ([1.0], "m: timens: 1 record; at least 3 are needed for a test"),
        ([], "m: timens: 0 records; at least 3 are needed for a test"),
        (
            [*GOOD, math.nan],
            "m: timens: 1 of 9 values are not finite numbers (the first is value 9",
        ),
        (
            [math.inf, *GOOD],
            "m: timens: 1 of 9 values are not finite numbers (the first is value 1",
        ),
    ],
)
def test_an_unusable_level_is_named_and_the_others_are_still_compared(values, message):
    analysis = analysed(
        metric(baseline=GOOD, timens=values, container=OTHER), metric("n", baseline=GOOD, x=OTHER)
    )
    assert [text for text in told(analysis) if text.startswith(message)]
    bad, good = analysis.metrics
    by_pair = {(p.i, p.j): p for p in bad.pairs}
    assert by_pair["timens", "baseline"].independent is None
    assert by_pair["timens", "baseline"].verdict.word == "cannot be tested"
    assert by_pair["container", "baseline"].verdict.word == "slower"
    assert good.pairs[0].verdict.word == "slower"
    assert bad.welch.df1 == 1  # two usable levels


def test_a_metric_with_one_usable_level_hides_no_other():
    analysis = analysed(
        metric("bad", baseline=[3.0, 3.0, 3.0], x=GOOD), metric("good", baseline=GOOD, x=OTHER)
    )
    bad, good = analysis.metrics
    assert (bad.welch, bad.omnibus, bad.pairs[0].independent) == (None, "", None)
    assert (bad.levels[0].mean, bad.levels[0].sd) == (3.0, 0.0)
    assert good.pairs[0].verdict.word == "slower"
    assert good.omnibus_p_holm == good.welch.p  # a family of one


def test_one_level_alone_is_said():
    analysis = analysed(metric(baseline=GOOD))
    assert told(analysis) == ["m: one level alone has nothing to be compared to"]


@pytest.mark.parametrize("k", [2, 5])
def test_any_number_of_levels_and_unequal_n(k):
    rng = np.random.default_rng(k)
    levels = {f"l{i}": rng.normal(10 + i, 1, 10 + 7 * i) for i in range(k)}
    result = analysed(metric(**levels)).metrics[0]
    assert len(result.pairs) == len(result.games_howell) == k * (k - 1) // 2
    assert (result.welch.df1, result.anova.df2) == (k - 1, sum(map(len, levels.values())) - k)


def test_a_constant_level_is_still_compared_within_blocks():
    """A fast call on a coarse counter gives the same number every time; its median is sound."""
    whole = Metric(
        "m",
        (
            Level("baseline", np.full(20, 21.68), np.arange(20)),
            Level("timens", np.full(20, 22.49), np.arange(20)),
        ),
        resolution=0.01,
    )
    result = analysed(whole).metrics[0]
    found = result.pairs[0].paired
    assert found.median.estimate == pytest.approx(0.81)
    assert found.median.high - found.median.low == pytest.approx(0.02)  # a step to each side
    assert found.percent.low < found.percent.estimate < found.percent.high
    assert found.wilcoxon.p < 0.001
    assert result.pairs[0].independent is None
    assert result.pairs[0].verdict.word == "slower"


def test_without_a_known_step_the_smallest_gap_of_the_data_is_taken():
    found = analysed(metric(blocks=True, baseline=[5.0] * 9, timens=[6.0] * 9)).metrics[0]
    paired = found.pairs[0].paired
    assert (paired.median.low, paired.median.high) == (0.0, 2.0)


def test_levels_that_are_one_constant_get_a_message_and_no_interval():
    analysis = analysed(metric(blocks=True, baseline=[5.0] * 9, timens=[5.0] * 9))
    assert analysis.metrics[0].pairs[0].paired is None
    assert (
        "m: timens - baseline: every block differs by exactly 0: no interval has a width"
        in told(analysis)
    )


def test_too_few_blocks_for_a_paired_test_are_counted():
    analysis = analysed(metric(blocks=True, baseline=GOOD[:5], timens=OTHER[:5]))
    assert (
        "m: timens - baseline: 5 blocks have both; at least 6 are needed for a paired test"
        in told(analysis)
    )
    assert analysis.metrics[0].pairs[0].independent is not None


def test_a_host_value_that_is_not_positive_leaves_no_percentages():
    values = [-1.0, *GOOD[1:]]
    result = analysed(metric(blocks=True, baseline=values, timens=OTHER)).metrics[0]
    assert result.pairs[0].paired.percent is None
    assert result.pairs[0].paired.median.low > 0
    assert result.pairs[0].verdict.word == "slower"


def test_pages_never_hold_nan_or_inf():
    nasty = [
        metric("constant", baseline=[1.0] * 5, timens=[1.0] * 5, container=[2.0] * 5),
        metric("two", baseline=[1.0, 2.0], timens=[2.0, 3.0]),
        metric("not_numbers", baseline=[math.nan] * 5, timens=GOOD, container=OTHER),
        metric("endless", baseline=GOOD, timens=[math.inf] * 4),
        metric("empty", baseline=[], timens=GOOD),
        metric("paired", blocks=True, baseline=[0.0] * 9, timens=[0.0] * 8 + [1.0]),
        metric("huge", baseline=[1e300 * x for x in GOOD], timens=[1e300 * x for x in OTHER]),
    ]
    analysis = analysed(*nasty)
    page = build.samples_document(analysis, [])
    for text in (
        html.render(page),
        markdown.render(page),
        latex.render(page),
        machine.csv_text(analysis),
        json.dumps(machine.analysis_dict(analysis)),
    ):
        # The words may stand in a message, as what was found; never as a number of ours.
        cleaned = text.replace("nan); a value", "").replace("inf); a value", "")
        for word in ("nan", "inf", "NaN", "Infinity"):
            for cell in (f"| {word} ", f">{word}<", f" {word} &", f",{word},", f": {word}"):
                assert cell not in cleaned, cell


def test_the_exit_status_says_when_nothing_could_be_tested(tmp_path, capsys):
    path = tmp_path / "constant.json"
    path.write_text(json.dumps({"samples": {"a": [1, 1, 1], "b": [2, 2, 2]}}))
    assert cli.main(["test", str(path), "--json"]) == 1
    told = capsys.readouterr()
    assert "timens-study: test: constant: a: all 3 values are 1" in told.err
    assert json.loads(told.out)["welch"] is None
