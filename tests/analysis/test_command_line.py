# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-study` itself: quick to answer, one error, nothing imported that is not used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from timens_analysis import cli

PROJECT = Path(__file__).parents[2]
PROGRAM = PROJECT / "build/bin/timens-study"
HEAVY = ("numpy", "scipy", "matplotlib", "pandas", "statsmodels", "pingouin")


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def test_help_lists_every_command():
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for name, about in cli.COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert about in done.stdout


@pytest.mark.parametrize("words", [["--help"], ["test", "--help"], ["report", "--help"]])
def test_help_costs_less_than_a_third_of_a_second(words):
    """Processor time of a new process, children included; the best of three, files cached."""
    best = 9.0
    for _ in range(3):
        before = os.times()
        assert run(*words).returncode == 0
        after = os.times()
        spent = after.children_user + after.children_system
        best = min(best, spent - before.children_user - before.children_system)
    assert best < 0.3


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from timens_analysis import cli\n"
        "try: cli.main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    for words in (["--help"], ["report", "--help"], ["audit", "--help"], ["compare", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT / "analysis")},
        )
        assert done.stdout.endswith("[]\n")


def test_the_analysis_needs_neither_copyleft_nor_plotting_libraries():
    code = (
        "import sys, pkgutil, importlib, timens_analysis as t\n"
        "for m in pkgutil.walk_packages(t.__path__, 'timens_analysis.'):\n"
        "    importlib.import_module(m.name)\n"
        "print([m for m in ('pingouin', 'statsmodels', 'matplotlib') if m in sys.modules])"
    )
    env = {**os.environ, "PYTHONPATH": str(PROJECT / "analysis")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout == "[]\n"


def test_a_wrong_command_is_a_usage_error():
    done = run("mesure")
    assert done.returncode == 2
    assert "invalid choice: 'mesure'" in done.stderr


def test_an_error_is_one_line_and_perhaps_a_hint(tmp_path):
    done = run("report", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        f"timens-study: run: {tmp_path}/environment.json: No such file or directory\n"
        "hint: a results folder holds this file\n"
    )


def test_a_reader_that_goes_away_is_no_error():
    data = PROJECT / "tests/data/stats/paper_table4_synthetic.csv"
    shell = f"{PROGRAM} test {data} --json | head -c 10"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert (len(done.stdout), done.stderr) == (10, "")


def test_the_program_does_not_change_what_a_child_sees():
    """A study starts other programs; they must not inherit our search path."""
    assert "PYTHONPATH" not in Path(PROGRAM).read_text().split("exec", 1)[1]
