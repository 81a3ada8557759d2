# SPDX-License-Identifier: LGPL-2.1-or-later
"""doctor, status, show and aa."""

import json

import pytest

from timens_analysis.study import doctor, host, vdso
from timens_analysis.study.aa import rate


def test_the_vdso_check_tells_the_clocks_that_no_vdso_answers(programs):
    bench = programs / "timens-bench"

    assert vdso.answers(bench) is True
    assert vdso.answers(bench, "CLOCK_PROCESS_CPUTIME_ID") is False
    assert vdso.answers(bench, "CLOCK_OF_NOBODY") is None


def test_a_slow_clock_source_is_a_warning_with_advice(monkeypatch):
    monkeypatch.setattr(host, "clocksource", lambda: {"current": "hpet", "available": ["tsc"]})
    finding = doctor.clocksource()

    assert (finding.level, finding.found) == ("warning", "hpet")
    assert "available_clocksource" in finding.advice


def test_a_missing_time_namespace_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor.Path, "exists", lambda _: False)

    assert doctor.time_namespaces().level == "problem"


def test_doctor_checks_all_that_it_promises_and_advises_where_not_all_is_well(study):
    done = study("doctor", "--json")
    answer = json.loads(done.stdout)

    assert {finding["check"] for finding in answer["findings"]} >= {
        *("clocksource", "vdso", "governor", "turbo", "smt", "mitigations", "load", "steal"),
        *("memory cgroup", "timer slack", "virtualisation", "scheduler"),
    }
    for finding in answer["findings"]:
        assert (finding["advice"] is None) == (finding["level"] == "good"), finding
    worst = {finding["level"] for finding in answer["findings"]}
    assert done.returncode == (1 if "problem" in worst else 0)


def test_the_fingerprint_changes_with_the_host_and_not_with_its_load():
    about = host.describe()

    assert host.fingerprint({**about, "load": [9, 9, 9], "uptime": "1"}) == about["fingerprint"]
    assert host.fingerprint({**about, "kernel": "7.0"}) != about["fingerprint"]


def test_status_counts_cells_and_knows_that_a_run_is_complete(study, smoke):
    told = json.loads(study("status", smoke, "--json").stdout)

    assert told["state"] == "complete"
    assert told["cells_done"] == told["cells"] == 228
    assert told["records"] == told["cells"] + told["attempts_again"]
    assert told["collector_max_rss_kb"] < 100 * 1024


def test_status_of_a_folder_without_a_run_names_it(study, tmp_path):
    done = study("status", tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith(f"timens-study: run: {tmp_path}/environment.json: No such file")


def test_show_prints_one_line_for_each_record_that_was_chosen(study, smoke):
    done = study("show", smoke, "--arm", "timens", "--metric", "getppid")
    head, *lines = done.stdout.splitlines()

    assert head.split()[:3] == ["seq", "block", "try"]
    assert {line.split()[3] for line in lines} == {"timens"}
    assert sorted({int(line.split()[1]) for line in lines}) == [0, 1, 2]


def test_show_gives_one_record_with_all_its_batches(study, smoke):
    record = json.loads(study("show", smoke, "--seq", "0").stdout)

    assert record["seq"] == 0
    assert len(record["batch_ns"]) == record["calls"] // record["batch"]
    missing = study("show", smoke, "--seq", "999999")
    assert (missing.returncode, missing.stderr) == (
        1,
        "timens-study: show: --seq 999999: there is no such record\n",
    )


def test_the_interval_of_a_rate_is_exact():
    """Clopper-Pearson for 5 of 100, as printed in tables: 1.64 % to 11.28 %."""
    found = rate("any", [0.01] * 5 + [0.5] * 95, 0.05)

    assert (found.positives, found.comparisons) == (5, 100)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0164, 0.1128)


@pytest.mark.parametrize(
    ("design", "tests"),
    [
        ("blocks", ["Wilcoxon, pairs of processes", "Welch, processes"]),
        ("sequential", ["Welch, records"]),
    ],
)
def test_aa_makes_at_least_the_comparisons_asked_for(study, rootfs, tmp_path, design, tests):
    done = study(
        *("aa", "--profile", "smoke", "--comparisons", "10", "--blocks", "6", "--json"),
        *("--design", design, "--metrics", "getppid,rdtscp", "--rootfs", rootfs),
        *("--output", tmp_path / "aa"),
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["design"], outcome["replicates"], outcome["blocks"]) == (design, 5, 6)
    assert [rate["test"] for rate in outcome["rates"]] == tests
    assert outcome["rates"][0]["comparisons"] >= 8  # Welch leaves constant values out
    assert json.loads((tmp_path / "aa" / "aa.json").read_text()) == outcome
