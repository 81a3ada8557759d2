# SPDX-License-Identifier: LGPL-2.1-or-later
"""Help, man page and completions know the same options."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from kit import PROGRAM

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


# Each prints what the shell itself would offer for the line $LINE.
BASH = """
    source $COMPLETION/timens-run.bash
    COMP_WORDS=($LINE) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    [[ $LINE != *" " ]] || COMP_WORDS[++COMP_CWORD]=
    $(complete -p timens-run | grep -oE '_timens_run') timens-run
    printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = """
    source $COMPLETION/timens-run.fish
    complete -C $LINE | string replace -r '\\t.*' ''; true
"""
# An interactive zsh on a terminal of its own, where the key is pressed; its compadd tells us.
ZSH = r"""
    zmodload zsh/zpty
    zpty shell "zsh -f -i"
    zpty -w shell "PROMPT= fpath=($COMPLETION \$fpath); autoload -U compinit; compinit -u -D"
    zpty -w shell 'compadd() {
        local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>$OUT; builtin compadd "$@"
    }'
    zpty -w shell 'comppostfuncs=(finish); finish() { print END >>$OUT }'
    zpty -w -n shell "$LINE"$'\t'
    for try in {1..500}; do
        zpty -r -t shell shown
        [[ -e $OUT && "$(tail -n 1 $OUT)" == END ]] && break
        sleep 0.02
    done
    zpty -d shell
    grep -v END $OUT
"""
SHELLS = {
    "bash": ["bash", "-c", BASH],
    "fish": ["fish", "--no-config", "-c", FISH],
    "zsh": ["zsh", "-f", "-c", ZSH],
}


def offered_by(shell, line, tmp_path):
    """What pressing Tab after the line offers."""
    (tmp_path / "timens-run").symlink_to(PROGRAM)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "COMPLETION": str(COMPLETION),
        "OUT": str(tmp_path / "out"),
        "LINE": line,
    }
    shown = subprocess.run(
        SHELLS[shell], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        stdin=subprocess.DEVNULL, timeout=20,
    )  # fmt: skip
    return sorted(set(shown.stdout.split()))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_completes_exactly_the_options(shell, tmp_path, help_text):
    assert offered_by(shell, "timens-run --", tmp_path) == sorted(
        f"--{option}" for option in options_of(help_text)
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_completes_the_values_of_an_option(shell, tmp_path):
    assert offered_by(shell, "timens-run --net ", tmp_path) == ["host", "none", "pasta"]


def test_values_that_completions_offer_are_those_of_the_help(help_text):
    offered = options_of(help_text)
    for file in COMPLETION.glob("*timens-run*"):
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
