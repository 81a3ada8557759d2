# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line, its manual page, and what the program is made of."""

import argparse
import ast
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rootfs_kit import PROGRAM, TREE, Tool, names_in

from timens_rootfs import cli

SOURCES = sorted((TREE / "rootfs-tools/timens_rootfs").glob("*.py"))


def subcommands() -> dict[str, argparse.ArgumentParser]:
    (actions,) = [
        action for action in cli.parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(actions.choices)


@pytest.mark.parametrize("name", subcommands())
def test_the_manual_knows_every_command_and_option(name: str) -> None:
    page = (TREE / "docs/man/timens-rootfs.1.scd").read_text()

    assert f"*timens-rootfs* *{name}*" in page or f"|*{name}*" in page
    for action in subcommands()[name]._actions:
        for option in action.option_strings:
            if option not in ("-h", "--help"):
                assert f"*{option}*" in page


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nothing_but_the_standard_library_is_imported(source: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])

    assert imported - set(sys.stdlib_module_names) <= {"timens_rootfs"}


def test_a_wrong_size_is_a_wrong_command_line(tool: Tool, desk: Path) -> None:
    done = tool("unpack", "--max-size", "much", desk / "x", desk / "root")

    assert done.returncode == 2
    assert "'much' is not a size like 500M or 2G" in done.stderr


EMPTY: dict[str, tuple[list[str], str]] = {
    "rm": (["rm", "--force", ""], "DIR|IMAGE|DIGEST"),
    "create": (["create", "", "--from", "busybox"], "DIR"),
    "pull to": (["pull", "oci:x:y", ""], "DIR"),
    "pull from": (["pull", "", "root"], "IMAGE"),
    "unpack to": (["unpack", "x.tar", ""], "DIR"),
    "unpack from": (["unpack", "", "root"], "ARCHIVE"),
    "add to": (["add", "", "/bin/busybox"], "DIR"),
    "add from": (["add", "root", "/bin/busybox", ""], "FILE"),
    "add --to": (["add", "root", "/bin/busybox", "--to", ""], "--to"),
    "install": (["install", "", "less"], "DIR"),
    "run": (["run", "", "true"], "DIR"),
    "info": (["info", ""], "DIR"),
    "check": (["check", ""], "DIR"),
    "digest": (["digest", ""], "DIR"),
}


@pytest.mark.parametrize("what", EMPTY)
def test_an_empty_name_is_not_the_current_folder(
    tool: Tool, desk: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    words, subject = EMPTY[what]
    (desk / "photo").write_text("dear")
    monkeypatch.chdir(desk)

    done = tool(*words)

    assert done.returncode == 2
    assert done.stderr.endswith(f"error: argument {subject}: must not be empty\n")
    assert names_in(desk) == ["photo"]


def test_an_interrupt_while_modules_are_loaded_is_said_in_one_line(
    tool: Tool, tmp_path: Path
) -> None:
    """A module that interrupts its own import stands in for somebody quick."""
    (tmp_path / "argparse.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")

    done = replace(tool, extra={"PYTHONPATH": str(tmp_path)})("list")

    assert (done.returncode, done.stderr) == (130, "timens-rootfs: interrupted\n")


@pytest.mark.parametrize(
    ("text", "size"), [("4096", 4096), ("1K", 1024), ("500M", 500 << 20), ("2GiB", 2 << 30)]
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert cli.size_in_bytes(text) == size


@pytest.mark.parametrize("command", ["info", "digest", "check", "list"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_is_lost_is_an_error(
    tool: Tool, busybox_root: Path, command: str, unbuffered: str
) -> None:
    words = [PROGRAM, command, *([] if command == "list" else [busybox_root])]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            words,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**tool.env, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )

    said = "timens-rootfs: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_pipe_is_no_archive(tool: Tool, desk: Path) -> None:
    os.mkfifo(desk / "pipe")

    said = tool.refusal("unpack", desk / "pipe", desk / "root")

    assert said == (
        f"timens-rootfs: unpack: {desk / 'pipe'}: is not a file\n"
        "hint: what is read twice cannot be a pipe\n"
    )
