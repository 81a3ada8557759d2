# SPDX-License-Identifier: LGPL-2.1-or-later
"""The comparison with our peers shows commands: all of them work."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/compare.md"
COMMANDS = re.findall(
    r"\| `timens-run ([^`]*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.fixture(scope="module")
def own_rootfs(rootfs, shared_folder):
    """A copy: some of the commands make places to mount on."""
    return shutil.copytree(rootfs, shared_folder / "compared", symlinks=True)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_comparison_works(run, own_rootfs, shared_folder, words):
    if os.geteuid() != 0:
        pytest.skip("some of the commands need root")
    kept = shared_folder / "kept"
    kept.mkdir(exist_ok=True)
    places = {"rootfs": str(own_rootfs), "kept": str(kept)}
    result = run(*(places.get(word, word) for word in shlex.split(words)))

    assert (result.returncode, result.stderr) == (0, "")


def test_every_row_of_the_comparison_shows_ours():
    rows = [r for r in PAGE.read_text(encoding="utf-8").splitlines() if r.startswith("| ")]

    assert len(rows) - 1 == len(COMMANDS)
    assert {row.count("|") for row in rows} == {9}
