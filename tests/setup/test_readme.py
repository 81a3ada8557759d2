# SPDX-License-Identifier: LGPL-2.1-or-later
"""The session in the README is what its commands print; only numbers may differ."""

import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
README = PROJECT / "README.md"


def session() -> list[tuple[str, str]]:
    """(command, expected output) of each `$ ` line of the README's console block."""
    block = re.search(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    parts = re.split(r"^\$ (.*)\n", block[1], flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def shape(text: str) -> str:
    return re.sub(r"\d+", "N", text)


@pytest.mark.skipif(os.geteuid() != 0, reason="runs the session as root and as another user")
@pytest.mark.parametrize("uid", [0, 1000])
def test_the_session_prints_what_the_readme_says(tmp_path_factory, uid):
    home = tmp_path_factory.mktemp("readme")
    for folder in (home, *home.parents[:2]):  # else only root could enter pytest's folders
        folder.chmod(0o755)
    os.chown(home, uid, uid)
    for command, expected in session():
        if command.startswith("export PATH"):
            continue
        result = subprocess.run(
            ["sh", "-c", command],
            cwd=home,
            env={"PATH": f"{PROJECT}/build/bin:{os.environ['PATH']}", "HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            user=uid,
            group=uid,
            extra_groups=[],
        )
        assert shape(result.stdout) == shape(expected), command


def test_every_link_of_the_pages_leads_to_a_file():
    pages = [*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").rglob("*.md"))]
    dead = [
        f"{page.relative_to(PROJECT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not dead, "\n".join(dead)
