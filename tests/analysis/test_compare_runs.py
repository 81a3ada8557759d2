# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-study compare`: levels and effects of several runs side by side."""

import pytest
from synthetic_run import ARMS, TRUE_EFFECTS, make_run

from timens_analysis import cli

VDSO = "vdso_clock_gettime_monotonic"
METRICS = (VDSO, "timer_settime", "clock_getres")


def effects_plus(**slower):
    """All arms slower in some metrics, by nanoseconds."""
    extra = {(arm, metric): ns for metric, ns in slower.items() for arm in ARMS}
    return {key: TRUE_EFFECTS.get(key, 0) + extra.get(key, 0) for key in {**TRUE_EFFECTS, **extra}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    top = tmp_path_factory.mktemp("runs")

    def make(name, seed, effects, **host):
        return make_run(
            top / name, seed=seed, effects=effects, metrics=METRICS, blocks=25, host=host
        )

    return {
        "a": make("a", 1, TRUE_EFFECTS),
        "same": make("same", 2, TRUE_EFFECTS),
        "slow": make("slow", 3, effects_plus(timer_settime=42.0)),
        "bit": make("bit", 4, effects_plus(timer_settime=8.0)),
        "other": make("other", 5, effects_plus(**{VDSO: 0.0}), kernel="6.19.0"),
        "dear": make("dear", 6, TRUE_EFFECTS | {("timens", VDSO): 2.0}),
    }


def compare(capsys, *words):
    status = cli.main(["compare", *map(str, words)])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_two_runs_of_one_host_do_not_differ(runs, capsys):
    status, page, _ = compare(capsys, runs["a"], runs["same"], "--fail-over", "5%")
    assert status == 0
    assert "All fingerprints are alike" in page
    assert "No level is shown to be more than 5 % slower." in page
    levels = [line for line in page.splitlines() if "| same |" in line]
    assert len(levels) == len(METRICS) * len(ARMS)
    assert all(line.endswith("| not significant |") for line in levels)


def test_a_level_over_the_limit_fails_and_is_named(runs, capsys):
    status, page, _ = compare(capsys, runs["a"], runs["slow"], "--fail-over", "5%")
    assert status == 1
    for arm in ARMS:
        assert f"- more than 5 % slower: timer_settime, {arm}, slow" in page
    assert "slower, over the limit" in page
    assert compare(capsys, runs["a"], runs["slow"])[0] == 0  # nobody asked to fail


def test_a_significant_change_below_the_limit_does_not_fail(runs, capsys):
    status, page, _ = compare(capsys, runs["a"], runs["bit"], "--fail-over", "5%")
    assert status == 0
    assert any("timer_settime" in x and x.endswith("| slower |") for x in page.splitlines())
    assert compare(capsys, runs["a"], runs["bit"], "--fail-over", "1%")[0] == 1


def test_a_faster_run_never_fails(runs, capsys):
    status, page, _ = compare(capsys, runs["slow"], runs["a"], "--fail-over", "5%")
    assert status == 0
    assert any("timer_settime" in x and x.endswith("| faster |") for x in page.splitlines())


def test_unlike_hosts_are_refused_with_the_difference(runs, capsys):
    status, page, told = compare(capsys, runs["a"], runs["other"])
    assert (status, page) == (1, "")
    assert told.splitlines() == [
        "other: kernel: 6.18.44 there, 6.19.0 here",
        "timens-study: compare: other: measured under other conditions than a",
        "hint: --force compares all the same; the differences are then part of the page",
    ]


def test_force_compares_unlike_hosts_and_prints_the_difference(runs, capsys):
    status, page, _ = compare(capsys, runs["a"], runs["other"], "--force")
    assert status == 0
    assert "| other | kernel | 6.18.44 | 6.19.0 |" in page


def test_an_effect_that_has_grown_is_told_from_a_level_that_has(runs, capsys):
    _, page, _ = compare(capsys, runs["a"], runs["dear"])
    effects = page[page.index("## Effects") :]
    grown = [x for x in effects.splitlines() if x.endswith("| larger |")]
    assert len(grown) == 1
    assert grown[0].startswith(f"| {VDSO} | timens | +3.7")


def test_many_hosts_are_summarised_with_random_effects(runs, capsys, tmp_path):
    names = ("a", "same", "bit", "slow")
    page_file = tmp_path / "hosts.html"
    status, page, _ = compare(capsys, *(runs[n] for n in names), "-o", page_file)
    assert status == 0
    pooled = page[page.index("## Over all runs") :]
    row = next(x for x in pooled.splitlines() if x.startswith(f"| {VDSO} | timens | 4 |"))
    mean = float(row.split("|")[4].split("%")[0].replace("+", ""))
    assert mean == pytest.approx(100 * 0.81 / 21.68, abs=0.1)
    assert "Random-effects summary" in page_file.read_text()


def test_a_folder_that_is_no_run_is_refused(runs, capsys, tmp_path):
    status, _, told = compare(capsys, runs["a"], tmp_path)
    assert status == 1
    assert "environment.json: No such file or directory" in told


def test_runs_that_conclude_the_same_agree_and_others_are_named(runs, capsys, tmp_path):
    status, page, _ = compare(capsys, runs["a"], runs["same"], runs["bit"], "--agree")
    assert status == 0
    assert "Of 6 effects the 3 runs agree on 6," in page
    assert "contradict each other on 0." in page

    none = make_run(tmp_path / "none", seed=7, effects={}, metrics=METRICS, blocks=25)
    status, page, _ = compare(capsys, runs["a"], none, "--agree")
    assert status == 1
    assert "Of 6 effects the 2 runs agree on 4," in page
    assert f"| {VDSO} | timens | slower | equivalent within ±1 % | contradict |" in page
    assert compare(capsys, runs["a"], none)[0] == 0  # nobody asked to fail


def test_a_run_that_cannot_say_contradicts_nobody():
    from timens_analysis.conclusions import AGREE, CONTRADICT, OPEN, _together

    same = "equivalent within ±1 %"
    assert _together(["slower", "slower"]) == AGREE
    assert _together([same, "different, but within ±1 %"]) == AGREE
    assert _together(["slower", "inconclusive", "refused"]) == OPEN
    assert _together(["slower", "faster"]) == _together([same, "slower"]) == CONTRADICT
