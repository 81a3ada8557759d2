# SPDX-License-Identifier: LGPL-2.1-or-later
"""When a verdict is given, when it is refused, and what is said beside the paper."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_run import TRUE_EFFECTS, make_run

from timens_analysis.compare import analyse
from timens_analysis.load import load_run
from timens_analysis.model import Level, Metric
from timens_analysis.paper.reproduce import reproduce
from timens_analysis.results import Options
from timens_analysis.threats import threats
from timens_analysis.verdict import refusal_alpha

VDSO = "vdso_clock_gettime_monotonic"
METRICS = ("clock_getres", VDSO, "gettimeofday", "timer_delete", "nanosleep")


def study(tmp_path, effects, **options):
    run = load_run(make_run(tmp_path / "run", effects=effects, metrics=METRICS, blocks=40))
    return run, analyse(run.metrics, Options(**options), run.problems)


def verdicts(analysis):
    return {(r.metric.name, p.i, p.j): p.verdict for r in analysis.metrics for p in r.pairs}


def test_true_effects_are_found_and_the_baseline_does_not_differ_from_itself(tmp_path):
    _, analysis = study(tmp_path, TRUE_EFFECTS)
    words = {key: verdict.word for key, verdict in verdicts(analysis).items()}
    assert words[VDSO, "timens", "baseline"] == "slower"
    assert words[VDSO, "timens", "container"] == "equivalent within ±1 %"
    assert words["timer_delete", "container", "baseline"] == "different, but within ±1 %"
    assert words["timer_delete", "timens", "container"] == "different, but within ±1 %"
    for result in analysis.metrics:
        assert result.aa.verdict.word == "equivalent within ±1 %"
        for pair in (*result.pairs, result.aa):
            truth = TRUE_EFFECTS.get((pair.i, result.metric.name), 0.0)
            truth -= TRUE_EFFECTS.get((pair.j, result.metric.name), 0.0)
            wide = 1.5 * (pair.paired.median.high - pair.paired.median.low)
            assert pair.paired.median.estimate == pytest.approx(truth, abs=wide)


def test_a_metric_whose_baseline_differs_from_itself_gets_no_verdict(tmp_path):
    effects = TRUE_EFFECTS | {("baseline_aa", VDSO): 0.3}
    run, analysis = study(tmp_path, effects)
    refused = verdicts(analysis)[VDSO, "timens", "baseline"]
    assert refused.refused
    assert refused.reason.startswith("the baseline differs from itself (A/A, Holm p = ")
    assert verdicts(analysis)["timer_delete", "container", "baseline"].word != "refused"
    told = [t.text for t in threats(run, analysis) if t.subject == "A/A"]
    assert told[0].endswith(f"after Holm still {VDSO}: their verdicts are refused")


def test_an_arm_in_which_a_negative_control_moves_gets_no_verdicts(tmp_path):
    run, analysis = study(tmp_path, TRUE_EFFECTS | {("container", "clock_getres"): 3.0})
    found = verdicts(analysis)
    for metric in METRICS:
        for i, j in (("container", "baseline"), ("timens", "container")):
            assert found[metric, i, j].refused
            assert found[metric, i, j].reason.startswith(
                "negative control clock_getres moved in container"
            )
    assert found[VDSO, "timens", "baseline"].word == "slower"
    assert any("the verdicts of this arm are refused" in t.text for t in threats(run, analysis))


def test_a_seccomp_filter_excuses_the_controls_that_are_system_calls():
    rng = np.random.default_rng(1)

    def metric(name, extra, exempt):
        levels = tuple(
            Level(arm, rng.normal(100 + more, 0.1, 30), np.arange(30))
            for arm, more in (("baseline", 0), ("container_seccomp", extra))
        )
        return Metric(name, levels, control="negative", control_not_in=frozenset(exempt))

    moved = metric("clock_getres", 26.0, ["container_seccomp"])
    still = metric("rdtscp", 0.0, [])
    analysis = analyse([moved, still], Options())
    assert [r.pairs[0].verdict.word for r in analysis.metrics] == [
        "slower",
        "equivalent within ±1 %",
    ]
    moved = metric("clock_getres", 26.0, [])
    assert analyse([moved, still], Options()).metrics[1].pairs[0].verdict.refused


def test_not_significant_is_inconclusive_unless_equivalence_is_shown():
    rng = np.random.default_rng(3)
    levels = tuple(Level(n, rng.normal(100, 10, 12), np.arange(12)) for n in ("baseline", "timens"))
    analysis = analyse([Metric("m", levels)], Options())
    assert analysis.metrics[0].pairs[0].verdict.word == "inconclusive"
    wide = analyse([Metric("m", levels)], Options(margin_percent=50))
    assert wide.metrics[0].pairs[0].verdict.word == "equivalent within ±50 %"


def test_holm_counts_the_metrics_that_were_asked_about():
    """The same data among many metrics needs a smaller p."""
    rng = np.random.default_rng(5)
    host = rng.normal(100, 1, 30)
    pair = (Level("baseline", host), Level("timens", host + 0.62))
    noise = [
        Metric(f"n{i}", tuple(Level(n, rng.normal(100, 1, 30)) for n in ("baseline", "timens")))
        for i in range(14)
    ]
    alone = analyse([Metric("m", pair)], Options()).metrics[0].pairs[0]
    among = analyse([Metric("m", pair), *noise], Options()).metrics[0].pairs[0]
    assert alone.independent.p_holm == alone.independent.test.p < 0.05
    assert among.independent.p_holm == pytest.approx(15 * alone.independent.test.p)
    assert (alone.verdict.word, among.verdict.word) != ("slower", "slower")


def test_the_papers_effects_are_judged_with_a_reason(tmp_path):
    effects = {("timens", VDSO): 0.81, ("container", VDSO): 0.81, ("timens", "timer_delete"): -3.0}
    _, analysis = study(tmp_path, effects)
    rows = {(r.metric, r.i, r.j): r for r in reproduce(analysis.metrics, analysis.options)}
    assert len(rows) == 3 * len(METRICS)

    def said(*key):
        return rows[key].verdict, rows[key].reason

    larger = "same direction; the paper's effect is larger than our interval"
    assert said(VDSO, "timens", "baseline") == ("reproduced", larger)
    assert rows[VDSO, "timens", "baseline"].paper_percent == pytest.approx(6.32, abs=0.01)
    verdict, reason = said("gettimeofday", "timens", "baseline")
    assert verdict == "not reproduced"
    assert reason.startswith("significant in the paper, not here; here it lies in [")
    assert said("timer_delete", "timens", "baseline") == (
        "different sign",
        "significant in both, in opposite directions",
    )
    assert said("clock_getres", "timens", "container")[0] == "reproduced"
    assert said("clock_getres", "timens", "container")[1].startswith("neither finds a difference")
    verdict, reason = said("nanosleep", "timens", "baseline")
    assert verdict == "cannot be compared"
    assert reason.startswith("a million sleeps of 100 ms are 27.8 hours")


def test_all_guards_of_a_study_share_one_alpha(tmp_path):
    """Two arms with controls and the A/A arm: three families."""
    _, analysis = study(tmp_path, TRUE_EFFECTS)
    assert refusal_alpha(analysis.metrics, analysis.options) == pytest.approx(0.05 / 3)
    without_aa = [replace(result, aa=None) for result in analysis.metrics]
    assert refusal_alpha(without_aa, analysis.options) == pytest.approx(0.05 / 2)
    uncontrolled = [r for r in analysis.metrics if r.metric.control is None]
    assert refusal_alpha(uncontrolled, analysis.options) == 0.05  # A/A alone
    assert refusal_alpha([], analysis.options) == 0.05


def test_a_refused_verdict_cannot_be_compared_with_the_paper(tmp_path):
    _, analysis = study(tmp_path, {("baseline_aa", VDSO): 0.3})
    rows = {(r.metric, r.i): r for r in reproduce(analysis.metrics, analysis.options)}
    assert rows[VDSO, "timens"].verdict == "cannot be compared"
    assert rows[VDSO, "timens"].reason.startswith("our verdict is refused: the baseline differs")


def test_threats_come_from_the_host_the_arms_and_the_records(tmp_path):
    run, analysis = study(tmp_path, {}, margin_percent=2.0)
    told = {t.subject: t.text for t in threats(run, analysis)}
    assert told["host, load"] == "load average 4.0 on 2 CPUs (wait until the machine is idle)"
    assert "host, clocksource" not in told  # a good finding is no threat
    assert told["A/A"].endswith("none at 0.017 after Holm")
    assert told["margin"].startswith("the margin of 2 % was given when the report was made")
    run.environment["arms"][3]["cgroup"] = "0::/elsewhere"
    run.environment["design"] = "sequential"
    told = {t.subject: t.text for t in threats(run, analysis)}
    assert told["arms"].startswith("cgroup is not the same in all arms (baseline: 0::/study,")
    assert told["design"].startswith("levels were measured one after another")
