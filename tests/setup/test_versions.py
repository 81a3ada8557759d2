# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each program of the README's table is there, has a manual, and tells the project's version."""

import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(timens-\w+)` \|.*\| `timens-\w+\(1\)` \|$", re.MULTILINE)
PROGRAMS = ROW.findall((PROJECT / "README.md").read_text(encoding="utf-8"))


def test_the_readme_lists_every_program_that_has_a_manual():
    assert set(PROGRAMS) == {page.name.split(".")[0] for page in PROJECT.glob("docs/man/*.1.scd")}


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_tells_the_version_of_the_project(program):
    version = re.search(r"version: '(.+)'", (PROJECT / "meson.build").read_text(encoding="utf-8"))
    assert version is not None

    answer = subprocess.run(
        [PROJECT / "build/bin" / program, "--version"], capture_output=True, text=True, check=False
    )

    first = answer.stdout.splitlines()[0].replace(" version ", " ")
    assert (answer.returncode, first, answer.stderr) == (0, f"{program} {version[1]}", "")
