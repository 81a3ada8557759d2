# SPDX-License-Identifier: LGPL-2.1-or-later
"""A full disk behind standard output is not taken for success."""

import os
import subprocess
from pathlib import Path

import pytest

from kit import PROGRAM, PROJECT

LOST = "cannot write to standard output: No space left on device\n"


def say_to_full_disk(program, *words):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            [program, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30
        )
    return result.returncode, result.stderr


@pytest.mark.parametrize(
    "words",
    ["--check", "--check --json", "--explain ROOT true", "--near-wrap list", "--help", "--version"],
)
def test_the_launcher_says_that_its_answer_was_lost(rootfs, words):
    status, text = say_to_full_disk(PROGRAM, *words.replace("ROOT", str(rootfs)).split())

    assert (status, text) == (125, f"timens-run: command line: {LOST}")


@pytest.mark.parametrize(
    ("words", "status", "step"),
    [
        ("timens-clocks", 2, ""),
        ("timens-clocks --json", 2, ""),
        ("timens-clocks --watch", 2, ""),
        ("timens-clocks --help", 2, ""),
        ("timens-clocks --version", 2, ""),
        ("timens-bench list", 1, ""),
        ("timens-bench list --json", 1, ""),
        ("timens-bench --help", 1, ""),
        ("timens-bench --version", 1, ""),
        ("timens-oci features", 1, "features: "),
        ("timens-oci --version", 1, "command line: "),
        ("timens-oci --help", 1, "command line: "),
        ("timens-hook --help", 1, ""),
        ("timens-hook --version", 1, ""),
    ],
)
def test_the_other_programs_say_it_with_their_own_status(words, status, step):
    name, *rest = words.split()

    assert say_to_full_disk(os.fspath(PROJECT / "build/bin" / name), *rest) == (
        status,
        f"{name}: {step}{LOST}",
    )
