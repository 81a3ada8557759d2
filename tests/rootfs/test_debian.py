# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs create and install with a real Debian archive: minutes, and a mirror needed."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from rootfs_kit import LAUNCHER, Tool, names_in, words_that_name

pytestmark = pytest.mark.mirror
SLOW_S = 600


def make(tool: Tool, root: Path, *options: str) -> None:
    done = tool("create", root, *options, timeout_s=SLOW_S)
    assert (done.returncode, done.stderr) == (0, "")


def in_container(prefix: list[str], root: Path, *command: str) -> str:
    done = subprocess.run(
        [*prefix, LAUNCHER, root, *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="a user with ranges has a test of its own")
def test_current_stable_is_made_twice_alike_and_takes_packages(tool: Tool, desk: Path) -> None:
    for name in ("one", "two"):
        make(tool, desk / name)
    assert tool.ok("digest", desk / "one") == tool.ok("digest", desk / "two")
    assert "ID=debian" in in_container([], desk / "one", "cat", "/etc/os-release").split("\n")
    assert names_in(desk / "one/dev") == []

    installed = tool("install", desk / "one", "less", timeout_s=SLOW_S)
    before = tool.ok("digest", desk / "one")
    said = tool.refusal("install", desk / "one", "no-such-package-at-all")

    assert (installed.returncode, installed.stderr) == (0, "")
    assert in_container([], desk / "one", "less", "--version").startswith("less ")
    assert said == (
        "timens-rootfs: install: no-such-package-at-all: apt-get: "
        "Unable to locate package no-such-package-at-all\n"
    )
    assert tool.ok("digest", desk / "one") == before


def test_a_suite_with_packages_included(tool: Tool, desk: Path) -> None:
    make(tool, desk / "root", "--suite", "bookworm", "--include", "less,nano")

    codename = in_container([], desk / "root", "cat", "/etc/os-release")
    assert "VERSION_CODENAME=bookworm" in codename
    assert (desk / "root/bin/nano").exists()


def test_a_user_with_ranges_makes_debian_with_its_owners(
    run_with_ranges: object, shared_folder: Path
) -> None:
    prefix = list(getattr(run_with_ranges, "prefix", ()))
    home = shared_folder / "debian-home"
    home.mkdir()
    home.chmod(0o777)
    tool = Tool(home, prefix=prefix)

    make(tool, home / "root")

    group = in_container(prefix, home / "root", "stat", "-c", "%G", "/etc/shadow")
    assert group == "shadow\n"
    installed = tool("install", home / "root", "less", timeout_s=SLOW_S)
    assert (installed.returncode, installed.stderr) == (0, "")
    tool.ok("rm", home / "root")


def test_a_suite_that_is_not_there_leaves_nothing(tool: Tool, desk: Path) -> None:
    done = tool("create", desk / "root", "--suite", "nonesuch", timeout_s=SLOW_S)

    assert done.returncode == 1
    assert done.stderr.startswith("timens-rootfs: create: nonesuch from the mirror of this host:")
    assert names_in(desk) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_of_mmdebstrap_outlives_its_run(
    tool: Tool, desk: Path, number: signal.Signals
) -> None:
    with tool.start("create", desk / "root") as maker:
        end = time.monotonic() + SLOW_S
        while not list(desk.glob(".timens-rootfs-*/root/var/lib/dpkg/*")):
            assert time.monotonic() < end
            assert maker.poll() is None
            time.sleep(0.1)
        assert any(words_that_name(desk))
        maker.send_signal(number)
        maker.communicate()
    end = time.monotonic() + 10
    while any(words_that_name(desk)):
        assert time.monotonic() < end
        time.sleep(0.02)
    tool.ok("create", desk / "other", "--from", "busybox")

    assert names_in(desk) == ["other"]
