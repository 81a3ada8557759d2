# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exported files are loaded by the tools that they are for."""

import json
import subprocess
import sys
from pathlib import Path

import pyperf
import pytest


@pytest.fixture(scope="module")
def exported(smoke, programs):
    """The folder of a complete run, exported in both formats."""
    for name in ("pyperf", "google"):
        command = [programs / "timens-study", "export", smoke, "--format", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert str(smoke / name / "timens.json") in done.stdout.splitlines()
    return smoke


def metrics(folder):
    return json.loads((folder / "environment.json").read_text())["metrics"]


def test_pyperf_loads_a_suite_with_a_run_for_each_process(exported):
    suite = pyperf.BenchmarkSuite.load(str(exported / "pyperf" / "timens.json"))

    assert suite.get_benchmark_names() == [metric["name"] for metric in metrics(exported)]
    for metric in metrics(exported):
        benchmark = suite.get_benchmark(metric["name"])
        assert benchmark.get_nrun() == benchmark.get_nvalue() == 3
        assert benchmark.get_unit() == "second"
        low, high = (0.1, 1.0) if metric["kind"] == "sleep" else (1e-10, 1e-4)
        assert all(low < value < high for value in benchmark.get_values())
        assert benchmark.get_metadata()["timens_arm"] == "timens"


def test_pyperf_compares_two_arms_by_name(exported):
    files = [exported / "pyperf" / f"{arm}.json" for arm in ("baseline", "timens")]
    done = subprocess.run(
        [sys.executable, "-m", "pyperf", "compare_to", *files, "--table", "-v"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "vdso_clock_gettime_monotonic" in done.stdout


def compare_py():
    listed = subprocess.run(
        ["dpkg-query", "--listfiles", "libbenchmark-tools"],
        capture_output=True,
        text=True,
        check=False,
    )
    return next((Path(p) for p in listed.stdout.split() if p.endswith("/compare.py")), None)


def test_compare_py_of_google_benchmark_tests_two_arms(exported):
    program = compare_py()
    assert program is not None, "libbenchmark-tools is not installed: ./bootstrap test"
    files = [exported / "google" / f"{arm}.json" for arm in ("baseline", "timens")]
    done = subprocess.run(
        [sys.executable, program, "--no-color", "benchmarks", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for metric in metrics(exported):
        lines = [line for line in done.stdout.splitlines() if line.startswith(metric["name"] + " ")]
        assert len(lines) == 3, metric["name"]  # one for each process
        assert f"{metric['name']}_pvalue" in done.stdout
    assert "U Test, Repetitions: 3 vs 3" in done.stdout
