# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user sees on the container's clocks.  Source: time_namespaces(7)."""

import time

import pytest

HOUR_S = 3600
UPTIME_STEP_S = 0.01  # /proc/uptime is cut to hundredths
CLOCKS = {"monotonic": "CLOCK_MONOTONIC", "boottime": "CLOCK_BOOTTIME"}
READ_INSIDE = "import time; print(*(time.clock_gettime_ns(c) for c in ({})))"


def read_all(names):
    return [time.clock_gettime_ns(getattr(time, name)) for name in names]


@pytest.mark.parametrize(
    ("monotonic", "boottime", "monotonic_ns", "boottime_ns"),
    [
        ("+3600", "+7200", 3_600_000_000_000, 7_200_000_000_000),
        ("-30", "-0.25", -30_000_000_000, -250_000_000),
        ("1.5", "0.000000001", 1_500_000_000, 1),
        ("+10", "0", 10_000_000_000, 0),
    ],
)
def test_both_clocks_lie_between_two_host_readings_plus_the_offset(
    run_as_anyone, host_rootfs, monotonic, boottime, monotonic_ns, boottime_ns
):
    program = READ_INSIDE.format("time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME")
    options = ["--monotonic", monotonic, "--boottime", boottime]
    before = read_all(CLOCKS.values())
    result = run_as_anyone(*options, *host_rootfs, "python3", "-c", program)
    after = read_all(CLOCKS.values())

    assert (result.returncode, result.stderr) == (0, "")
    inside = [int(word) for word in result.stdout.split()]
    for low, value, high, offset in zip(
        before, inside, after, (monotonic_ns, boottime_ns), strict=True
    ):
        assert low + offset <= value <= high + offset


def test_boottime_offset_moves_proc_uptime(run_as_anyone, rootfs):
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    result = run_as_anyone("--boottime", "+3600", rootfs, "cat", "/proc/uptime")
    after = time.clock_gettime(time.CLOCK_BOOTTIME)

    assert (result.returncode, result.stderr) == (0, "")
    inside = float(result.stdout.split()[0])
    assert before + HOUR_S - UPTIME_STEP_S <= inside <= after + HOUR_S


def test_the_wall_clock_is_the_hosts(run, host_rootfs):
    program = READ_INSIDE.format("time.CLOCK_REALTIME,")
    before = time.time_ns()
    result = run("--boottime", "+1000000", *host_rootfs, "python3", "-c", program)
    after = time.time_ns()

    assert before <= int(result.stdout) <= after


def test_only_time_shifts_the_clock_and_nothing_else(run):
    program = READ_INSIDE.format("time.CLOCK_MONOTONIC,")
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    result = run("--only", "time", "--monotonic", "+100", "--", "python3", "-c", program)
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    assert (result.returncode, result.stderr) == (0, "")
    assert before + 100 * 10**9 <= int(result.stdout) <= after + 100 * 10**9


def test_a_container_in_a_container_counts_from_the_clocks_it_sees(run):
    """The kernel counts offsets from the host; we add those of the namespace we are in."""
    program = READ_INSIDE.format("time.CLOCK_BOOTTIME,")
    inner = [str(run.program), "--only", "time", "--boottime", "+5", "--"]
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    outer = ["--only", "time", "--boottime", "+100", "--", *inner, "python3", "-c", program]
    result = run(*outer)
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    assert (result.returncode, result.stderr) == (0, "")
    assert before + 105 * 10**9 <= int(result.stdout) <= after + 105 * 10**9


def test_a_clock_below_zero_is_refused_with_the_range(run, rootfs):
    result = run("--monotonic", "-1000000000", rootfs, "true")

    assert result.returncode == 125
    assert result.stderr.startswith(
        "timens-run: clock bounds: monotonic -1000000000 would start the clock below zero; "
        "allowed on this host at this moment: -"
    )
    assert result.stderr.endswith(": Numerical result out of range\n")
