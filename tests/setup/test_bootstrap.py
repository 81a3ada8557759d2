# SPDX-License-Identifier: LGPL-2.1-or-later
"""bootstrap says what it needs where it cannot install, and does nothing twice."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
NOBODY = 65534


@pytest.fixture
def host():
    """A copy of the set-up files beside a PATH that holds only what the test puts there.

    Not in tmp_path, which only its owner may enter.
    """
    with tempfile.TemporaryDirectory(prefix="timens-setup-") as folder:
        yield set_up_host(Path(folder))


def set_up_host(folder: Path) -> Path:
    for name in ("bootstrap", "requirements.txt"):
        shutil.copy(PROJECT / name, folder)
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "sed", "grep", "tr", "sort", "cmp", "id", "env"):
        (tools / name).symlink_to(shutil.which(name))
    folder.chmod(0o755)
    return folder


def bootstrap(host, *purposes, user=None):
    return subprocess.run(
        [host / "bootstrap", *purposes],
        env={"PATH": str(host / "tools")},
        capture_output=True,
        text=True,
        check=False,
        user=user,
    )


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_second_run_says_nothing_and_takes_less_than_two_seconds():
    """make test has just run bootstrap: everything is in place."""
    start = time.monotonic()
    result = subprocess.run(
        [PROJECT / "bootstrap", "build", "study", "test"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert time.monotonic() - start < 2


def test_another_distribution_gets_the_list_of_what_is_needed(host):
    result = bootstrap(host, "build")

    assert (result.returncode, result.stdout) == (1, "")
    message, hint = result.stderr.splitlines()
    assert message == (
        "bootstrap: this is not Debian or Ubuntu: packages cannot be installed from here"
    )
    assert hint.startswith("hint: install what these Debian packages hold, then run make again: ")
    assert {"gcc", "meson", "libseccomp-dev", "libjansson-dev"} <= set(hint.split())


@pytest.mark.skipif(os.geteuid() != 0, reason="changes to another user, which only root may")
def test_without_root_the_exact_sudo_command_is_printed(host):
    """dpkg has all but two packages, so that only these two are asked for."""
    script(
        host / "tools" / "dpkg-query",
        'shift 3; for p; do case $p in meson|scdoc) ;; *) echo "installed $p" ;; esac; done',
    )
    script(host / "tools" / "apt-get", "exit 99")

    result = bootstrap(host, "build", user=NOBODY)

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "bootstrap: packages are missing and only root can install them\n"
        "hint: sudo apt-get update && "
        "sudo apt-get install -y --no-install-recommends meson scdoc\n"
    )


def test_an_unknown_purpose_is_refused_with_the_known_ones(host):
    result = bootstrap(host, "everything")

    assert result.returncode == 1
    assert result.stderr.startswith("bootstrap: unknown purpose 'everything'\nhint: one of: build")


@pytest.mark.parametrize("folder", ["", "analysis"])
def test_every_python_package_is_locked_by_hash(folder):
    lock = (PROJECT / folder / "requirements.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([a-z0-9-]+)==\S+ \\\n    --hash=sha256:", lock, re.MULTILINE)
    wanted = (PROJECT / folder / "requirements.in").read_text(encoding="utf-8").splitlines()

    names = {re.split(r"[>=<]", line)[0] for line in wanted if line and line[0] not in "#-"}
    assert names <= set(pinned)
    assert len(pinned) == len(re.findall(r"^[a-z0-9-]+==", lock, re.MULTILINE))


def test_what_is_installed_is_what_was_tested():
    """The lock file of an installed timens-study pins the same versions as the one of .venv."""

    def pins(path: str) -> set[str]:
        text = (PROJECT / path).read_text(encoding="utf-8")
        return set(re.findall(r"^[a-z0-9-]+==\S+", text, re.MULTILINE))

    assert pins("analysis/requirements.txt") <= pins("requirements.txt")
