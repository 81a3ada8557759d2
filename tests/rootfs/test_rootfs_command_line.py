# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line, its manual page, and what the program is made of."""

import argparse
import ast
import sys
from pathlib import Path

import pytest
from rootfs_kit import TREE, Tool

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


@pytest.mark.parametrize(
    ("text", "size"), [("4096", 4096), ("1K", 1024), ("500M", 500 << 20), ("2GiB", 2 << 30)]
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert cli.size_in_bytes(text) == size
