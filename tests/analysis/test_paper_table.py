# SPDX-License-Identifier: LGPL-2.1-or-later
"""The paper's Table IV: what follows from it, what does not, and that the audit says which."""

import csv
import json
from pathlib import Path

import pytest

from timens_analysis import cli
from timens_analysis.compare import analyse
from timens_analysis.inputs import load_samples
from timens_analysis.paper import audit, errata, published
from timens_analysis.results import Options

DATA = Path(__file__).parents[1] / "data"
SYNTHETIC = DATA / "stats" / "paper_table4_synthetic.csv"
# The known slips of the table.
DF2_IN_THE_F_COLUMN = {
    "clock_getres", "clock_gettime_monotonic", "gettimeofday", "timer_create", "timer_settime",
    "timer_delete", "timer_getoverrun", "timerfd_create", "vdso_clock_gettime_boottime",
    "vdso_clock_gettime_monotonic", "vdso_clock_gettimeofday",
}  # fmt: skip
OTHER_POST_HOC = {"timer_settime": "Tukey", "timerfd_settime": "Games-Howell"}


@pytest.fixture(scope="module")
def analysis():
    return analyse(load_samples([SYNTHETIC]), Options())


@pytest.fixture(scope="module")
def audits():
    return {a.printed.name: a for a in map(audit.audit_metric, published.table_iv())}


def rows(name):
    with (DATA / "table4" / name).open() as file:
        return list(csv.DictReader(file))


def test_the_synthetic_records_give_the_reference_answers(analysis):
    expected = json.loads((DATA / "stats/paper_table4_synthetic.ref.json").read_text())["expected"]
    for want, got in zip(expected, analysis.metrics, strict=True):
        assert got.metric.name == want["metric"]
        for test, ours in (("anova", got.anova), ("welch", got.welch)):
            reference = want[test]
            assert ours.statistic == pytest.approx(reference["F"], rel=1e-6)
            assert ours.df2 == pytest.approx(reference["df2"], rel=1e-6)
            assert ours.p == pytest.approx(reference["p"], rel=1e-5, abs=1e-12)
        for pair, a, b in zip(want["pairs"], got.games_howell, got.tukey, strict=True):
            for ours, reference in ((a, pair["games_howell"]), (b, pair["tukey"])):
                assert (ours.i, ours.j) == (pair["i_level"], pair["j_level"])
                assert ours.p == pytest.approx(reference["p"], abs=1e-6)
                half = (ours.high - ours.low) / 2
                assert (ours.low, ours.high) == pytest.approx(reference["ci"], abs=1e-5 * half)


def test_the_synthetic_records_reproduce_every_printed_cell_but_the_known_slips(analysis):
    """Means, SDs, F, df2, p, differences, limits and p of all pairs, as they are printed."""
    wrong_f, other_post_hoc = set(), {}
    for printed, got in zip(published.table_iv(), analysis.metrics, strict=True):
        for level, ours in zip(printed.levels, got.levels, strict=True):
            assert level.mean.holds(ours.mean, ours.mean), (printed.name, level.name)
            assert level.sd.holds(ours.sd, ours.sd), (printed.name, level.name)
        declared = printed.test.name
        test = got.welch if declared == "Welch" else got.anova
        assert printed.test.df2.holds(test.df2, test.df2)
        assert printed.test.p.holds(test.p, test.p)
        if not printed.test.f.holds(test.statistic, test.statistic):
            wrong_f.add(printed.name)
            assert printed.test.f.holds(test.df2, test.df2)
        fits = {
            name: all(
                cell.holds(value, value)
                for pair, ours in zip(printed.pairs, found, strict=True)
                for cell, value in (
                    (pair.diff, ours.diff), (pair.low, ours.low), (pair.high, ours.high),
                    (pair.p, ours.p),
                )
            )
            for name, found in (("Games-Howell", got.games_howell), ("Tukey", got.tukey))
            if printed.pairs
        }  # fmt: skip
        if fits and not fits[audit.POST_HOC[declared]]:
            other_post_hoc[printed.name] = next(name for name, fit in fits.items() if fit)
    assert wrong_f == DF2_IN_THE_F_COLUMN
    assert other_post_hoc == OTHER_POST_HOC


def test_the_gate_of_the_paper_chooses_between_both_paths():
    """Levene decides the test, the omnibus test decides whether there is a post hoc."""
    metrics = load_samples([SYNTHETIC])
    analysis = analyse(metrics, Options(method="paper"))
    for result in analysis.metrics:
        unequal = result.levene["median"].p < 0.05
        assert result.omnibus == ("Welch" if unequal else "ANOVA")
        chosen = result.welch if unequal else result.anova
        post_hoc = result.games_howell if unequal else result.tukey
        for pair, expected in zip(result.pairs, post_hoc, strict=True):
            if chosen.p < 0.05:
                assert pair.independent.test == expected
            else:
                assert (pair.independent, pair.verdict.word) == (None, "no post hoc test")
    assert {r.omnibus for r in analysis.metrics} == {"Welch", "ANOVA"}
    gates = {r.metric.name: r.gate for r in analysis.metrics}
    assert gates["nanosleep"].endswith("not significant, no post hoc")
    centred = analyse(metrics, Options(method="paper", levene="mean"))
    assert "mean-centred" in centred.metrics[0].gate


def test_verdicts_of_the_layout_example_come_out(analysis):
    """Slower, faster, equivalent, both at once, or inconclusive: as given for delta = 1 %."""
    words = {(r.metric.name, p.i, p.j): p.verdict.word for r in analysis.metrics for p in r.pairs}
    assert words["clock_nanosleep", "namespace", "baseline"] == "inconclusive"
    assert words["nanosleep", "namespace", "baseline"] == "equivalent within ±1 %"
    assert words["clock_getres", "namespace", "baseline"] == "slower"
    assert words["clock_gettime_boottime", "container", "baseline"] == "different, but within ±1 %"
    assert words["vdso_clock_gettime_boottime", "namespace", "container"] == "faster"


def test_the_audit_names_each_slip_and_nothing_else(audits):
    slips = {
        (name, finding.text.split(":")[0])
        for name, a in audits.items()
        for finding in a.findings
        if finding.kind == "slip"
    }
    wanted = {(name, "the F column holds df2") for name in DF2_IN_THE_F_COLUMN}
    wanted |= {
        ("timer_settime", "marked Welch, but its post hoc numbers are Tukey's, not Games-Howell's"),
        (
            "timerfd_settime",
            "marked ANOVA, but its post hoc numbers are Games-Howell's, not Tukey's",
        ),
    }
    assert slips == wanted
    agreeing = [name for name, a in audits.items() if a.agrees]
    assert agreeing == ["clock_nanosleep", "nanosleep", "clock_gettime_boottime"]


@pytest.mark.parametrize("row", rows("recomputed_anova.csv"), ids=lambda row: row["metric"])
def test_the_true_f_values_are_recovered(audits, row):
    tests = audits[row["metric"]].tests
    exact = 2e-4 if row["source"].startswith("recovered") else 1e-3
    assert tests["Welch"].f.centre == pytest.approx(float(row["welch_F"]), rel=exact)
    assert tests["Welch"].df2.centre == pytest.approx(float(row["welch_df2"]), rel=1e-4)
    assert tests["ANOVA"].f.centre == pytest.approx(float(row["anova_F"]), rel=exact)


def test_effect_sizes_agree_with_the_independent_recomputation(analysis):
    ours = {(r.metric.name, p.i, p.j): p.independent for r in analysis.metrics for p in r.pairs}
    for row in rows("recomputed_posthoc.csv"):
        got = ours[row["metric"], row["i_level"], row["j_level"]]
        near = {"abs": 0.003}
        g, percent = got.hedges_g, got.percent
        assert g.estimate == pytest.approx(float(row["hedges_g"]), **near)
        assert (g.low, g.high) == pytest.approx((float(row["g_lo"]), float(row["g_hi"])), **near)
        assert percent.estimate == pytest.approx(float(row["pct"]), **near)
        limits = float(row["pct_lo"]), float(row["pct_hi"])
        assert (percent.low, percent.high) == pytest.approx(limits, **near)
        margin = float(row["tost_min_margin_pct"])
        assert got.equivalent_within_percent == pytest.approx(margin, abs=0.005)
        assert got.detectable_percent == pytest.approx(float(row["mde80_pct"]), abs=0.005)


def test_the_claim_of_four_percent_falls_on_the_three_vdso_rows(audits):
    found = errata.headline(list(audits.values()), 4.0)
    assert "vdso_clock_gettime_boottime +6.2 %, vdso_clock_gettime_monotonic +7.0 %" in found.text
    assert "vdso_clock_gettimeofday +5.0 %" in found.text
    assert "the other 12 metrics stay below, at most 3.57 %" in found.text
    assert errata.headline(list(audits.values()), 8.0) is None


def test_without_an_argument_the_paper_is_audited(tmp_path, capsys):
    page = tmp_path / "audit.html"
    assert cli.main(["audit", "-o", str(page)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("the paper's Table IV: 15 metrics, 13 slips in cells, 6 in the whole")
    for words in (
        "391.54 is printed and df2 is 391.54; Welch's F is 115.25",
        "in 13 of the 13 metrics that print differences, all of them are multiples of 1/200",
        "27.8 hours, 200 of them 231 days",
        "2.83-3.78 ns, said of monotonic, are limits of vdso_clock_gettime_boottime",
        "3.37-4.21 ns, said of boottime, are limits of vdso_clock_gettime_monotonic",
        "in randomised blocks",
        "agree in every cell: clock_nanosleep, nanosleep, clock_gettime_boottime",
    ):
        assert words in told
    assert "Welch&#x27;s F is 115.25" in page.read_text()
    assert cli.main(["audit", "-o", str(page), "--check"]) == 1


HEADER = (
    "metric,test,df1,df2,F,p,level,n,mean,sd,"
    "i_level,j_level,diff,significant,diff_p,ci_lower,ci_upper"
)
SOUND = """
m,Welch,1,38,25.00,<0.001,a,20,100.00,2.000,b,a,3.162,yes,<0.001,1.88,4.44
m,,,,,,b,20,103.16,2.000,,,,,,,
"""


def audited(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(HEADER + text)
    (found,) = map(audit.audit_metric, published.read_table(path))
    return [finding.text for finding in found.findings]


def test_a_sound_table_is_left_alone(tmp_path):
    assert audited(tmp_path, SOUND) == []


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("25.00", "52.00", "Welch's F: 52.00 is printed, the means and SDs give 25"),
        ("25.00", "38.00", "the F column holds df2: 38.00 is printed and df2 is 38.00"),
        (",38,", ",39,", "Welch's df2: 39 is printed, the means and SDs give 38"),
        ("3.162,yes", "3.612,yes", "b - a: 3.612 is printed, the means give 3.16"),
        ("1.88,4.44", "1.88,4.54", "b - a: limits and p 1.88 4.54 <0.001 are printed"),
        ("3.162,yes", "3.162,no", "b - a: not all say that it differs: the mark does not"),
    ],
)
def test_a_single_changed_cell_is_found(tmp_path, old, new, finding):
    assert any(text.startswith(finding) for text in audited(tmp_path, SOUND.replace(old, new)))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("m,,,,,,a,20,ten,2", "line 2: mean: 'ten' is not a number"),
        ("m,,,,,,a,20,10,0", "line 2: a level needs n > 1 and sd > 0"),
        ("m,,,,,,a,20,10,2", "m: fewer than two levels"),
        ("", "no rows below the header line"),
    ],
)
def test_a_table_that_cannot_be_audited_is_refused(tmp_path, capsys, text, cause):
    path = tmp_path / "t.csv"
    path.write_text(f"{HEADER}\n{text}\n" if text else f"{HEADER}\n")
    page = tmp_path / "page.html"
    assert cli.main(["audit", str(path), "-o", str(page)]) == 1
    assert cause in capsys.readouterr().err
    assert not page.exists()
