# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-clocks: the table, the proof, and who may look."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kit import PROJECT

NS = 1_000_000_000
READINGS, WAITS = 12, 11
KNOWN = {
    "io_uring timeout, absolute CLOCK_MONOTONIC",
    "io_uring timeout, absolute CLOCK_BOOTTIME",
}
VIRTUAL = {
    "CLOCK_MONOTONIC": 100_000 * NS,
    "CLOCK_MONOTONIC_COARSE": 100_000 * NS,
    "CLOCK_MONOTONIC_RAW": 100_000 * NS,
    "CLOCK_BOOTTIME": -1_500_000_000,
}


def beside(runner):
    """Runs timens-clocks as whoever the given runner runs timens-run as."""
    return replace(runner, program=runner.program.with_name("timens-clocks"))


@contextmanager
def sleeper(runner, *words) -> Iterator[int]:
    """A container that runs; gives the process id of its PID 1."""
    with runner.start(*words, "sh", "-c", "echo up; sleep 60") as child:
        assert child.stdout.readline() == "up\n"
        yield pid_1_of(child.pid)
        child.send_signal(signal.SIGTERM)


def pid_1_of(pid: int) -> int:
    """setpriv and unshare exec: the launcher has the pid that we started."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def test_every_clock_lies_between_two_host_readings_plus_its_offset(run_as_anyone, rootfs):
    offsets = ["--monotonic", "+100000", "--boottime=-1.5"]
    with sleeper(run_as_anyone, *offsets, rootfs) as pid:
        result = beside(run_as_anyone)("--pid", pid, "--json")

    assert (result.returncode, result.stderr) == (0, "")
    clocks = {row.pop("clock"): row for row in json.loads(result.stdout)["clocks"]}
    assert {"CLOCK_REALTIME", "CLOCK_TAI", "CLOCK_PROCESS_CPUTIME_ID"} < set(clocks)
    for name, row in clocks.items():
        offset = -1_500_000_000 if "BOOTTIME" in name else VIRTUAL.get(name, 0)
        assert row["virtualised"] == (offset != 0)
        assert row["offset_ns"] == offset
        assert row["resolution_ns"] == round(
            time.clock_getres(getattr(time, name, time.CLOCK_MONOTONIC)) * NS
        ) or name not in dir(time)
        if "CPUTIME" not in name:  # that of another process
            low, high = row["host_before_ns"], row["host_after_ns"]
            assert low + offset <= row["inside_ns"] <= high + offset


def test_the_table_names_what_is_virtualised(run, rootfs):
    with sleeper(run, "--offset", "1d", rootfs) as pid:
        lines = beside(run)("--pid", pid).stdout.splitlines()

    table = {line.split()[0]: line.split() for line in lines}
    assert table["clock"][-1] == "virtualised"
    assert table["CLOCK_BOOTTIME"][-4:] == ["+86400", "1", "ns", "yes"]
    assert table["CLOCK_REALTIME"][-4:] == ["-", "1", "ns", "no"]


@pytest.mark.parametrize(
    ("offsets", "shifts"),
    [
        (["--monotonic", "+100000", "--boottime", "+200000"], (100_000 * NS, 200_000 * NS)),
        (["--monotonic=-100", "--boottime=-200.5"], (-100 * NS, -200_500_000_000)),
    ],
)
def test_all_that_reads_or_waits_for_a_clock_agrees(run_as_anyone, rootfs, offsets, shifts):
    with sleeper(run_as_anyone, *offsets, rootfs) as pid:
        result = beside(run_as_anyone)("--pid", pid, "--verify", "--json")

    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["monotonic_shift_ns"], found["boottime_shift_ns"]) == shifts
    verdicts = {check["check"]: check["verdict"] for check in found["checks"]}
    assert len(verdicts) == READINGS + WAITS
    others = {name: verdict for name, verdict in verdicts.items() if name not in KNOWN}
    assert set(others.values()) == {"agrees"}, others
    assert {verdicts[name] for name in KNOWN} == {"known"}
    assert found["disagree"] == 0


def test_without_an_offset_even_io_uring_agrees(run):
    result = beside(run)("--verify")

    assert result.returncode == 0
    assert result.stdout.splitlines()[0] == "the clocks of this time namespace against one another"
    assert result.stdout.splitlines()[-1] == (
        f"{READINGS + WAITS} agree, 0 known not to, 0 not to be tried here, 0 disagree"
    )


def test_it_can_be_run_inside(run, host_rootfs):
    clocks = run.program.with_name("timens-clocks")
    show = ["--ro-bind", f"{clocks.resolve()}:/tmp/timens-clocks"]
    inside = [*show, *host_rootfs, "/tmp/timens-clocks"]
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    result = run("--offset", "1d", *inside, "--json")
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    assert (result.returncode, result.stderr) == (0, "")
    (row,) = [r for r in json.loads(result.stdout)["clocks"] if r["clock"] == "CLOCK_BOOTTIME"]
    assert before <= row["host_before_ns"] <= row["host_after_ns"] <= after
    assert row["offset_ns"] == 86_400 * NS


def test_who_may_not_look_is_told_who_may(run_as_user):
    result = beside(run_as_user)("--pid", 1)

    assert result.returncode == 2
    assert result.stderr == (
        "timens-clocks: cannot open /proc/1/ns/user: Permission denied\n"
        "hint: only root and who started the container may look inside\n"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--pid", "4194305"], "there is no process 4194305: No such process"),
        (["--pid", "0"], "--pid '0' is not a process id: Invalid argument"),
        (["--pid", "12x"], "--pid '12x' is not a process id: Invalid argument"),
        (["--watch", "--verify"], "--watch and --verify exclude each other: Invalid argument"),
        (["--frobnicate"], "'--frobnicate' is unknown or lacks its value: Invalid argument"),
        (["timeline"], "timeline needs FILE: Invalid argument"),
        (["timeline", "/no/t"], "timeline: cannot open /no/t: No such file or directory"),
    ],
)
def test_bad_input_is_refused_by_its_reason(run, words, why):
    result = beside(run)(*words)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == f"timens-clocks: {why}"


def test_watch_prints_again_every_second(run):
    with beside(run).start("--watch", "--json") as child:
        first, second = (json.loads(child.stdout.readline())["clocks"] for _ in range(2))
        child.send_signal(signal.SIGINT)

    monotonic = [r["inside_ns"] for rows in (first, second) for r in rows
                 if r["clock"] == "CLOCK_MONOTONIC"]  # fmt: skip
    assert monotonic[1] - monotonic[0] >= NS


def test_a_timeline_is_shown_while_it_runs_and_after(run, rootfs, folder):
    clocks = beside(run)
    with sleeper(run, "--timeline", folder / "t", "--uptime", "49d17h", rootfs):
        running = clocks("timeline", folder / "t").stdout.splitlines()
        held = json.loads(clocks("timeline", folder / "t", "--json").stdout)
    stopped = clocks("timeline", folder / "t").stdout.splitlines()

    assert [line.split()[0] for line in running] == [
        "state", "starts", "written", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "reserved,", "reserved,",
    ]  # fmt: skip
    assert running[0].split() == ["state", "running"]
    assert "(49d 17h 0m 0." in running[3]
    assert (held["in_use"], held["state"], held["starts"]) == (True, "running", 1)
    assert 20 - 0.001 < held["reserved_monotonic"] - held["monotonic"] < 20 + 0.001
    assert stopped[0].split() == ["state", "stopped"]
    assert len(stopped) == 5


def test_a_crashed_timeline_is_called_so(run, rootfs, folder):
    words = ["--timeline", folder / "t", rootfs, "sh", "-c", "echo up; sleep 60"]
    with run.start(*words) as child:
        child.stdout.readline()
        child.kill()
    result = beside(run)("timeline", folder / "t")

    assert result.stdout.splitlines()[0].split(maxsplit=1) == [
        "state",
        "running, but nobody holds it: crashed",
    ]


def test_a_damaged_timeline_is_not_shown(run, folder):
    (folder / "t").write_text("timens-timeline 1\n", encoding="ascii")
    result = beside(run)("timeline", folder / "t")

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == (
        f"timens-clocks: timeline: {folder}/t: damaged: the line 'crc32' is missing: "
        "Invalid argument"
    )


def test_a_closed_pipe_ends_watch(run):
    program = run.program.with_name("timens-clocks")
    script = f"{program} --watch --json | head -n 1 >/dev/null"
    result = subprocess.run(["timeout", "10", "bash", "-c", script], check=False)

    assert result.returncode == 0


def test_the_timeline_in_the_man_page_is_a_valid_one(run, folder):
    page = PROJECT / "docs/man/timens-clocks.1.scd"
    blocks = page.read_text(encoding="utf-8").split("```\n")
    (example,) = (block for block in blocks if block.startswith("timens-timeline"))
    (folder / "t").write_text(example, encoding="ascii")

    assert beside(run)("timeline", folder / "t").returncode == 0


def test_a_container_is_found_by_its_name(run_as_anyone, rootfs):
    with sleeper(run_as_anyone, "--name", "clocks-test", "--offset", "3d", rootfs):
        result = beside(run_as_anyone)("--container", "clocks-test", "--json")
    clocks = {row["clock"]: row for row in json.loads(result.stdout)["clocks"]}

    assert (result.returncode, result.stderr) == (0, "")
    assert clocks["CLOCK_BOOTTIME"]["offset_ns"] == 3 * 86_400 * NS


def test_a_container_of_timens_oci_is_found_by_its_id(run_as_user, rootfs, folder):
    clocks = beside(run_as_user)
    state = folder / "timens-oci/c1/state.json"
    state.parent.mkdir(parents=True)
    with sleeper(run_as_user, "--offset", "3d", rootfs) as pid:
        state.write_text(f'{{"annotations": {{"pid": "7"}}, "pid": {pid}}}', encoding="ascii")
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
        result = clocks("--container", "c1", "--json", env=environment)
    rows = {row["clock"]: row for row in json.loads(result.stdout)["clocks"]}

    assert rows["CLOCK_BOOTTIME"]["offset_ns"] == 3 * 86_400 * NS


def test_a_name_that_nobody_has_is_refused(run):
    result = beside(run)("--container", "nobody-has-it")

    assert result.returncode == 2
    assert result.stderr == (
        "timens-clocks: no container 'nobody-has-it' runs here: No such file or directory\n"
        "hint: NAME is that of timens-run --name or the id of timens-oci, UID/NAME that of another "
        "user; --pid takes any process\n"
    )
