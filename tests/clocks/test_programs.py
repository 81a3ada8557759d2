# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real programs, as they come with a distribution, on clocks of their own."""

import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "data/programs"
NS = 1_000_000_000
WRAP_MS = 2**32


@pytest.fixture
def compiled(folder):
    """Compiles a program of tests/data; gives the words that show it inside as /tmp/program."""

    def compile_with(compiler, source, *flags):
        program = folder / f"program{len(list(folder.iterdir()))}"
        subprocess.run(
            [compiler, "-static", "-O1", *flags, "-o", program, PROGRAMS / source], check=True
        )
        return ["--ro-bind", f"{program}:/tmp/program"]

    return compile_with


@pytest.mark.parametrize("compiler", ["cc", "musl-gcc"])
def test_static_programs_of_both_c_libraries(run_as_anyone, rootfs, compiled, compiler):
    show = compiled(compiler, "read_clocks.c")
    clocks = (time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)
    before = [time.clock_gettime_ns(clock) for clock in clocks]
    offsets = ["--monotonic", "+1000000", "--boottime=-1.25"]
    result = run_as_anyone(*offsets, *show, rootfs, "/tmp/program")
    after = [time.clock_gettime_ns(clock) for clock in clocks]

    assert (result.returncode, result.stderr) == (0, "")
    for low, inside, high, offset_ns in zip(
        before, result.stdout.split(), after, (10**6 * NS, -1_250_000_000), strict=True
    ):
        assert low + offset_ns <= int(inside) <= high + offset_ns


def test_uptime_tells_the_uptime_that_was_asked_for(run_as_anyone, host_rootfs):
    result = run_as_anyone("--uptime", "2d3h5m", *host_rootfs, "uptime", "--pretty")

    assert result.stdout == "up 2 days, 3 hours, 5 minutes\n"


def test_uptime_since_is_the_date_of_that_boot(run, host_rootfs):
    before = int(time.time())
    result = run("--uptime", "100d", *host_rootfs, "env", "TZ=UTC", "uptime", "--since")
    after = int(time.time())

    since = datetime.strptime(result.stdout.strip(), "%Y-%m-%d %H:%M:%S")
    booted = int(since.replace(tzinfo=UTC).timestamp())
    assert before - 100 * 86_400 - 1 <= booted <= after - 100 * 86_400 + 1  # it rounds


@pytest.mark.parametrize("offset", ["+100d", "-200"])
def test_ps_tells_the_true_date_of_a_start(run, host_rootfs, offset):
    """It adds btime and starttime: both are shifted, in opposite directions."""
    before = int(time.time())
    command = ["env", "TZ=UTC", "LC_ALL=C", "ps", "-o", "lstart=", "-p", "1"]
    result = run(f"--offset={offset}", *host_rootfs, *command)
    after = int(time.time())

    told = datetime.strptime(result.stdout.strip(), "%a %b %d %H:%M:%S %Y")
    started = int(told.replace(tzinfo=UTC).timestamp())
    assert before - 1 <= started <= after  # btime is cut to seconds


def test_a_command_that_has_just_started_is_not_old(run, host_rootfs):
    result = run("--offset", "+100d", *host_rootfs, "sh", "-c", "ps -o etimes= -p $$")

    assert int(result.stdout) <= 1


def beats(output):
    return [int(tick) for tick in re.findall(r"beat at tick (\d+)", output)]


def test_a_tick_of_32_bits_stalls_near_its_wrap_and_its_repair_does_not(run, rootfs, compiled):
    """The demonstration of docs/demo-49-days.md."""
    command = [rootfs, "timeout", "-s", "KILL", "3", "/tmp/program"]
    broken = run.start("--near-wrap", "ms32-1s", *compiled("cc", "heartbeat.c"), *command)
    fixed = run.start("--near-wrap", "ms32-1s", *compiled("cc", "heartbeat.c", "-DFIXED"), *command)
    stalled, goes_on = (beats(child.communicate(timeout=20)[0]) for child in (broken, fixed))

    assert stalled[0] >= WRAP_MS - 1000
    assert stalled == sorted(stalled)
    assert stalled[-1] >= WRAP_MS - 500  # the last one before the wrap; then silence for ever
    assert len(goes_on) >= len(stalled) + 2
    assert goes_on[-1] < 2500
