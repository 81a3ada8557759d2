# SPDX-License-Identifier: LGPL-2.1-or-later
"""Help, man page and completions know the same options."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
MAN_PAGE = PROJECT / "docs/man/timens-run.1.scd"
COMPLETION = PROJECT / "launcher/completion"
SCREEN_LINES, SCREEN_COLUMNS = 40, 80


@pytest.fixture
def help_text(run):
    result = run("--help")
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def options_of(help_text):
    """From the groups of --help: each option with its argument, or ""."""
    groups = help_text.split("\n\n")[1]
    return dict(re.findall(r"--([a-z-]+)(?: (\S+))?(?:  |\n|$)", groups))


def test_help_fits_a_screen(help_text):
    lines = help_text.splitlines()

    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= SCREEN_COLUMNS
    assert [line for line in lines if line != line.rstrip()] == []


def test_the_man_page_has_the_same_options_with_the_same_arguments(help_text):
    page = MAN_PAGE.read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\*--([a-z-]+)\*(?: _(\S+)_)?$", page, re.MULTILINE))

    assert documented == options_of(help_text)
    assert len(documented) > 40


def test_bash_completes_exactly_the_options(run, help_text):
    script = f"""
        source {COMPLETION}/timens-run.bash
        COMP_WORDS=(timens-run --) COMP_CWORD=1
        _timens_run {run.program}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert sorted(set(shown.stdout.split())) == sorted(f"--{o}" for o in options_of(help_text))


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_ask_the_program_for_its_options(shell):
    file = COMPLETION / ("_timens-run" if shell == "zsh" else "timens-run.fish")

    assert "--help" in file.read_text(encoding="utf-8")
    if shutil.which(shell):
        subprocess.run([shell, "-n", file], check=True)


def test_values_that_completions_offer_are_those_of_the_help(help_text):
    offered = options_of(help_text)
    for file in COMPLETION.iterdir():
        text = file.read_text(encoding="utf-8")
        for name in ("proc", "sys", "dev", "net", "timeline-mode"):
            words = offered[name].replace("|", " ")
            assert f"--{name}" in text, (file, name)
            assert words in text, (file, name)


def test_a_version_and_nothing_else(run):
    assert re.fullmatch(r"timens-run \d+\.\d+\.\d+\n", run("--version").stdout)


def test_explain_prints_both_tables_and_runs_nothing(run, rootfs):
    result = run("--explain", "--memory", "64M", rootfs, "touch", "/explained")
    lines = result.stdout.splitlines()

    assert (result.returncode, result.stderr) == (0, "")
    host, child = lines.index("host"), lines.index("child")
    steps = [line[2:22].strip() for line in lines[host + 1 : child]]
    assert steps[-3:] == ["set-up", "exec", "wait"]
    assert "cgroup" in steps
    inside = [line[2:22].strip() for line in lines[child + 1 :]]
    assert inside.index("time namespace") < inside.index("pivot root") < inside.index("exec")
    assert not (rootfs / "explained").exists()


def test_explain_leaves_out_what_is_not_needed(run, rootfs):
    everything = run("--explain", rootfs, "true").stdout
    only_time = run("--explain", "--only", "time", "true").stdout

    assert "pivot root" in everything
    assert "pivot root" not in only_time
    assert "time namespace" in only_time
