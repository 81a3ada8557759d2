# SPDX-License-Identifier: LGPL-2.1-or-later
"""The monotonic clocks and the timers of language runtimes: `make test-languages`."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "data/programs"
WAIT_NS = 100_000_000
DAY_NS = 86_400 * 10**9


def real_path(program):
    """The program itself: some distributions and users put links or wrappers into PATH."""
    found = shutil.which(program)
    assert found, f"{program} is missing: ./bootstrap languages"
    return Path(found).resolve()


@pytest.fixture(scope="module")
def go_program(tmp_path_factory):
    """Go programs are static: the compiler stays outside."""
    out = tmp_path_factory.mktemp("go") / "clock"
    environment = {**os.environ, "GO111MODULE": "off", "CGO_ENABLED": "0"}
    command = [real_path("go"), "build", "-o", out]
    subprocess.run(command, cwd=PROGRAMS / "go", env=environment, check=True)
    return out


@pytest.fixture
def command(request, go_program):
    """Options and words that run the program in one language."""
    java_settings = [p for p in Path("/etc").glob("java-*") if p.is_dir()]
    return {
        "go": (["--ro-bind", f"{go_program}:/tmp/clock"], ["/tmp/clock"]),
        "python": (
            ["--ro-bind", f"{PROGRAMS}/clock.py:/tmp/clock.py"],
            ["/usr/bin/python3", "/tmp/clock.py"],
        ),
        "java": (
            [
                "--ro-bind", f"{PROGRAMS}/Clock.java:/tmp/Clock.java",
                *[word for p in java_settings for word in ("--ro-bind", f"{p}:{p}")],
            ],
            [real_path("java"), "/tmp/Clock.java"],
        ),
        "node": (
            ["--ro-bind", f"{PROGRAMS}/clock.js:/tmp/clock.js"],
            [real_path("node"), "/tmp/clock.js"],
        ),
    }[request.param]  # fmt: skip


@pytest.mark.parametrize("command", ["go", "python", "java", "node"], indirect=True)
@pytest.mark.parametrize(("offset", "offset_ns"), [("+100d", 100 * DAY_NS), ("-60", -60 * 10**9)])
def test_the_clock_follows_the_offset_and_timers_work(run, host_rootfs, command, offset, offset_ns):
    options, words = command
    before = time.monotonic_ns()
    result = run("--clear-env", f"--offset={offset}", *options, *host_rootfs, *words, timeout_s=60)
    after = time.monotonic_ns()

    assert (result.returncode, result.stderr) == (0, "")
    first, second = map(int, result.stdout.split())
    assert before + offset_ns <= first
    assert first + WAIT_NS <= second <= after + offset_ns
