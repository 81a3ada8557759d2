# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-study test` gives the answers that R and three Python libraries agree on."""

import json
from pathlib import Path

import pytest

from timens_analysis import cli

DATA = Path(__file__).parents[1] / "data" / "stats"
CASES = sorted(path.name.removesuffix(".data.json") for path in DATA.glob("*.data.json"))
VALUES_A_CASE = 51  # 4 cases: 204 values


def answer_of(case, capsys):
    assert cli.main(["test", str(DATA / f"{case}.data.json"), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def reference_of(case):
    return json.loads((DATA / f"{case}.ref.json").read_text())


def expected(reference):
    """(path into the answer, value, allowed difference) of everything that the reference has."""
    t = reference["tolerance"]
    for level, x in reference["descriptives"].items():
        yield ("descriptives", level, "n"), x["n"], 0
        yield ("descriptives", level, "mean"), x["mean"], 1e-9 * abs(x["mean"])
        yield ("descriptives", level, "sd"), x["sd"], 1e-6 * x["sd"]
    for level, x in reference["shapiro"].items():
        yield ("shapiro", level, "W"), x["W"], t["shapiro_W_abs"]
        yield ("shapiro", level, "p"), x["p"], t["shapiro_p_abs"]
    for center, x in reference["levene"].items():
        yield ("levene", center, "W"), x["W"], t["levene_rel"] * x["W"]
        yield ("levene", center, "p"), x["p"], 1e-6
    for test in ("anova", "welch"):
        x = reference[test]
        yield (test, "F"), x["F"], t["F_rel"] * x["F"]
        yield (test, "df1"), x["df1"], 0
        yield (test, "df2"), x["df2"], t["df2_rel"] * x["df2"]
        yield (test, "p"), x["p"], t["omnibus_p_abs"]
    for test in ("games_howell", "tukey"):
        for place, x in enumerate(reference[test]):
            yield (test, place, "diff"), x["diff"], t["diff_abs"]
            yield (test, place, "p"), x["p"], t["posthoc_p_abs"]
            for limit in ("ci_lower", "ci_upper"):
                yield (test, place, limit), x[limit], t["ci_abs"]


@pytest.mark.parametrize("case", CASES)
def test_every_reference_value_is_met(case, capsys):
    answer, reference = answer_of(case, capsys), reference_of(case)
    checked = 0
    for path, want, allowed in expected(reference):
        got = answer
        for key in path:
            got = got[key]
        assert got == pytest.approx(want, rel=0, abs=allowed), path
        checked += 1
    assert checked == VALUES_A_CASE
    for test in ("games_howell", "tukey"):
        assert [(p["i_level"], p["j_level"]) for p in answer[test]] == [
            (p["i_level"], p["j_level"]) for p in reference[test]
        ]


@pytest.mark.parametrize("case", CASES)
def test_hedges_g_has_the_exact_factor(case, capsys):
    answer, reference = answer_of(case, capsys), reference_of(case)
    for pair, want in zip(answer["pairs"], reference["games_howell"], strict=True):
        got = pair["independent"]["hedges_g"]["estimate"]
        assert got == pytest.approx(want["hedges_g_exactJ"], rel=1e-9)
