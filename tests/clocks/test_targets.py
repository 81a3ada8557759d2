# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people ask of the clocks, on real containers: durations, readings, wraps and bounds."""

import re
import time

import pytest

NS = 1_000_000_000
DAY = 86_400
READ = "import time; print(time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME))"
HOST_CLOCKS = (time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)
RAW_WARNING = re.compile(
    r"timens-run: warning: CLOCK_MONOTONIC_RAW starts at -\d+(\.\d+)? s, below zero: "
    r"it runs behind CLOCK_MONOTONIC on this host\n"
)


def read_host():
    return [time.clock_gettime_ns(clock) for clock in HOST_CLOCKS]


@pytest.mark.parametrize(
    ("duration", "ns"),
    [
        ("+3600", 3600 * NS),
        ("-30", -30 * NS),
        ("1.5", 1_500_000_000),
        ("1h30m", 5400 * NS),
        ("2d 3h", 51 * 3600 * NS),
        ("500ms", 500_000_000),
        ("250us", 250_000),
        ("10ns", 10),
        ("P1DT2H", 26 * 3600 * NS),
    ],
)
def test_each_form_of_a_duration_moves_both_clocks(run, host_rootfs, duration, ns):
    before = read_host()
    result = run(f"--offset={duration}", *host_rootfs, "python3", "-c", READ)
    after = read_host()

    assert (result.returncode, result.stderr) == (0, "")
    for low, inside, high in zip(before, result.stdout.split(), after, strict=True):
        assert low + ns <= int(inside) <= high + ns


@pytest.mark.parametrize(
    ("option", "target_ns"),
    [
        (["--uptime", "0"], 0),
        (["--uptime", "49d17h"], 49 * DAY * NS + 17 * 3600 * NS),
        (["--uptime", "near:ms32-5s"], 2**32 * 10**6 - 5 * NS),
        (["--near-wrap", "ms32-5s"], 2**32 * 10**6 - 5 * NS),
        (["--near-wrap", "s31-1h"], 2**31 * NS - 3600 * NS),
        (["--near-wrap", "us32"], 2**32 * 1000 - 30 * NS),
    ],
)
def test_the_clocks_read_what_is_asked_for(run_as_anyone, host_rootfs, option, target_ns):
    """Not before the target, and not later than the whole run took."""
    began = time.monotonic_ns()
    result = run_as_anyone(*option, *host_rootfs, "python3", "-c", READ)
    took = time.monotonic_ns() - began

    assert result.returncode == 0
    assert RAW_WARNING.sub("", result.stderr) == ""
    for inside in map(int, result.stdout.split()):
        assert target_ns <= inside <= target_ns + took


def test_the_error_of_a_reading_is_measured_and_stated(run, host_rootfs):
    result = run("--verbose", "--uptime", "10d", *host_rootfs, "python3", "-c", READ)

    (error_ns, *starts) = re.fullmatch(
        r"timens-run: the clocks were set within (\d+) ns of the reading asked for\n"
        r"timens-run: the command starts when CLOCK_MONOTONIC reads ([\d.]+) s, "
        r"CLOCK_BOOTTIME ([\d.]+) s\n",
        result.stderr,
    ).groups()
    assert 0 < int(error_ns) < NS
    for start, inside in zip(starts, result.stdout.split(), strict=True):
        assert 10 * DAY <= float(start) <= int(inside) / NS


def test_a_random_uptime_can_be_repeated(run, host_rootfs):
    first = run("--uptime", "random", *host_rootfs, "python3", "-c", READ)
    (chosen,) = re.findall(r"^timens-run: --uptime random is --uptime (\S+) this", first.stderr)
    began = time.monotonic_ns()
    second = run("--uptime", chosen, *host_rootfs, "python3", "-c", READ)
    took = time.monotonic_ns() - began

    assert 0 <= float(chosen) < 365 * DAY
    inside = int(second.stdout.split()[0])
    target_ns = round(float(chosen) * 1000) * 10**6
    assert target_ns <= inside <= target_ns + took


def test_the_list_of_wraps_explains_each(run):
    result = run("--near-wrap", "list")

    assert (result.returncode, result.stderr) == (0, "")
    rows = re.findall(r"^  (\w+) +([\d ]\S.*s)  +(signed|unsigned|\S+)", result.stdout, re.M)
    assert [name for name, _, _ in rows] == [
        "us31", "us32", "ms31", "ms32", "ns53", "s24", "HZ250", "ns54", "cs31", "cs32", "s31",
    ]  # fmt: skip
    assert "  ms32   49d 17h 2m 47.296s" in result.stdout


@pytest.mark.parametrize(
    ("options", "why", "hint"),
    [
        (["--offset", "5M"], "--offset: '5M' has the ambiguous unit 'M'",
         "write m for minutes; months have no fixed length"),
        (["--boottime", "2038-01-19"], "--boottime: '2038-01-19' is a date, not a duration",
         "the kernel's time namespace does not cover CLOCK_REALTIME: dates inside are always the "
         "host's"),
        (["--uptime=-5"], "--uptime: '-5' is negative: no clock reads that", None),
        (["--near-wrap", "ms33"], "--near-wrap: 'ms33' is not a known wrap",
         "--near-wrap list explains each; ms32-5s is 5 s before ms32"),
        (["--offset", "1", "--uptime", "0"],
         "--uptime: --offset has set this clock already", None),
        (["--boottime", "1", "--boottime", "2"],
         "--boottime: --boottime has set this clock already", None),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(run, rootfs, options, why, hint):
    result = run(*options, rootfs, "true")

    assert result.returncode == 125
    expected = f"timens-run: {why}: Invalid argument\n" + (f"hint: {hint}\n" if hint else "")
    assert result.stderr == expected


def test_below_zero_is_refused_with_the_range_of_this_moment(run_as_anyone, rootfs):
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    result = run_as_anyone("--boottime=-1000d", rootfs, "true")
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    assert result.returncode == 125
    (low, high) = re.fullmatch(
        r"timens-run: clock bounds: boottime -86400000 would start the clock below zero; allowed "
        r"on this host at this moment: -([\d.]+) to \+([\d.]+): Numerical result out of range\n",
        result.stderr,
    ).groups()
    seconds, _, fraction = low.partition(".")
    assert before <= int(seconds) * NS + int(fraction.ljust(9, "0") or 0) <= after
    assert abs(float(low) + float(high) - 4_611_686_018) < 1e-3  # a double's digits


def test_the_lower_bound_that_was_named_is_accepted(run, rootfs):
    said = run("--monotonic=-1000d", rootfs, "true").stderr
    (low,) = re.findall(r"this moment: (-[\d.]+) to", said)

    assert run(f"--monotonic={low}", rootfs, "true").returncode == 0


def test_beyond_146_years_is_refused(run, rootfs):
    assert run("--uptime", "4611686018", rootfs, "true").returncode == 0
    result = run("--uptime", "4611686019", rootfs, "true")

    assert result.stderr == (
        "timens-run: clock bounds: monotonic +4611686019 would start the clock beyond 146 years; "
        "allowed on this host at this moment: +0 to +4611686018: Numerical result out of range\n"
    )


def test_bounds_are_checked_before_anything_is_made(run, rootfs, folder):
    result = run("--offset=-1000d", "--pid-file", folder / "pid", rootfs, "touch", "/tmp/started")

    assert result.stderr.startswith("timens-run: clock bounds: ")
    assert list(folder.iterdir()) == []
    assert not (rootfs / "tmp/started").exists()


def test_a_raw_clock_below_zero_is_warned_of_and_runs(run, rootfs):
    behind = time.clock_gettime_ns(time.CLOCK_MONOTONIC) > time.clock_gettime_ns(
        time.CLOCK_MONOTONIC_RAW
    )
    result = run("--uptime", "0", rootfs, "true")

    assert result.returncode == 0
    assert bool(RAW_WARNING.fullmatch(result.stderr)) == behind
