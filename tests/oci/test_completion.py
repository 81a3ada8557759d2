# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shells complete the commands, the options and the containers of timens-oci."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from oci_kit import PROGRAM, Bundle

from kit import PROJECT

COMPLETION = PROJECT / "launcher/completion"
SCRIPTS = {
    "bash": """
        source {folder}/timens-oci.bash
        COMP_WORDS=({words}) COMP_CWORD={last}
        _timens_oci timens-oci
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """,
    "zsh": """
        compadd() {{ [[ $1 == -- ]] && shift; print -l -- ${{(M)@:#$PREFIX*}} }}
        words=({words}) CURRENT={last}+1 PREFIX=$words[-1]
        () {{ source {folder}/_timens-oci }}
    """,
    "fish": """
        source {folder}/timens-oci.fish
        complete -C '{line}'
    """,
}
SHELLS = [shell for shell in SCRIPTS if shutil.which(shell)]  # bash everywhere


def offered(shell: str, *words: str) -> set[str]:
    """What a shell offers for the last of the words."""
    script = SCRIPTS[shell].format(
        folder=COMPLETION,
        words=" ".join(f"'{w}'" for w in words),
        line=" ".join(words),
        last=len(words) - 1,
    )
    env = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [shell, "-c", script], env=env, capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line}


@pytest.fixture(scope="module")
def help_text() -> str:
    return subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_first_word_is_a_command(shell: str, help_text: str):
    commands = set(re.findall(r"^  ([a-z-]+) ", help_text, re.MULTILINE))
    assert {"create", "patch-config"} < commands
    beginning = {c for c in commands if c.startswith("p")}
    assert offered(shell, "timens-oci", "p") == beginning


@pytest.mark.parametrize("shell", SHELLS)
def test_options_are_those_of_the_help(shell: str, help_text: str):
    options = set(re.findall(r"--[a-z][a-z-]*", help_text))
    assert {o for o in offered(shell, "timens-oci", "--") if o.startswith("--")} == options


@pytest.mark.parametrize("shell", SHELLS)
def test_values_of_options_are_those_of_the_help(shell: str, help_text: str):
    assert "--log-format text|json" in help_text
    assert "--cgroup-manager cgroupfs|disabled" in help_text
    assert offered(shell, "timens-oci", "--log-format", "") >= {"text", "json"}
    assert offered(shell, "timens-oci", "--cgroup-manager", "") >= {"cgroupfs", "disabled"}


@pytest.fixture
def container(bundle: Bundle) -> Iterator[str]:
    """In the default root, where completions look."""
    name = f"completed-{os.getpid()}"
    folder = bundle.write("sleep", "100")
    subprocess.run(
        [PROGRAM, "create", "--bundle", folder, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    yield name
    subprocess.run([PROGRAM, "delete", "--force", name], check=True)


def test_after_a_command_containers_are_offered(container: str):
    for shell in SHELLS:
        assert container in offered(shell, "timens-oci", "state", "")
        assert container not in offered(shell, "timens-oci", "")
