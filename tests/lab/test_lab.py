# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments on this kernel, each by what it found, and the page of all."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from timens_analysis.lab import anatomy, clocksource, loops, tsc_clock, vdso_used, warp

from .conftest import BIN, Lab

SYSFS = Path("/sys/devices/system/clocksource/clocksource0")
CURRENT = (SYSFS / "current_clocksource").read_text().strip()
SERVED_BY_THE_VDSO = CURRENT in {"tsc", "kvm-clock", "arch_sys_counter"}


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()[1:]]


def markdown_row(page: str, *start: str) -> list[str]:
    """The cells of the first table row that begins like this."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[: len(start)] == list(start):
            return cells
    raise AssertionError(f"no row {start}")


@pytest.fixture(scope="module")
def page(everything: Path) -> str:
    return (everything / "lab.md").read_text(encoding="utf-8")


def test_the_page_has_every_experiment_in_its_order(page: str) -> None:
    titles = re.findall(r"^## (.*)$", page, re.MULTILINE)

    assert titles == [
        vdso_used.TITLE,
        loops.TITLE,
        clocksource.TITLE,
        warp.TITLE,
        tsc_clock.TITLE,
        anatomy.TITLE,
        "The machine",
        "Measure it again",
    ]
    assert page.count("Since the article") == 5  # the sixth experiment is the paper's
    assert "only a first look (--quick)" in page


def test_the_html_page_is_whole_and_fetches_nothing(everything: Path) -> None:
    html = (everything / "lab.html").read_text(encoding="utf-8")

    assert html.count("<svg") == 6
    assert not re.search(r'(src|href)="(?!#|data:)', html)


def test_what_this_machine_cannot_show_is_said(page: str) -> None:
    available = (SYSFS / "available_clocksource").read_text().split()

    for name, about in clocksource.SOURCES.items():
        assert (f"- **{name}:** {about}" in page) == (name not in available)
    assert "Not done: it switches the clock of the whole host." in page
    assert (SYSFS / "current_clocksource").read_text().strip() == CURRENT


def test_the_page_is_the_same_when_it_is_written_again(everything: Path, lab: Lab) -> None:
    before = (everything / "lab.html").read_bytes()

    done = lab("page", "--output", everything)

    assert (done.returncode, done.stderr) == (0, "")
    assert (everything / "lab.html").read_bytes() == before


def test_a_folder_without_experiments_is_refused(lab: Lab, tmp_path: Path) -> None:
    done = lab("page", "--output", tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"timens-study: lab: {tmp_path}: there is no experiment in it\n"


def test_every_clock_says_where_its_answer_comes_from(page: str) -> None:
    by_counter = ["user space"] * 2 if SERVED_BY_THE_VDSO else ["system call"] * 2
    assert markdown_row(page, "", "CLOCK_MONOTONIC")[2:4] == by_counter
    cpu_time = markdown_row(page, "", "CLOCK_PROCESS_CPUTIME_ID")
    assert cpu_time[2:4] == ["system call"] * 2
    assert cpu_time[-1] == vdso_used.REASONS["cpu_time_clock"]
    alarm = markdown_row(page, "", "CLOCK_BOOTTIME_ALARM")
    assert alarm[-1] == vdso_used.REASONS["clock_id"]


def test_strace_confirms_the_probe(everything: Path) -> None:
    checks = {r["function"]: r for r in rows(everything, "vdso-used") if "function" in r}

    assert checks["gettimeofday"]["strace_calls"] == checks["gettimeofday"]["calls"] == 500
    assert checks["vdso_gettimeofday"]["strace_calls"] == (0 if SERVED_BY_THE_VDSO else 500)


def test_the_loops_are_rounds_of_all_routes(everything: Path) -> None:
    timed = [(r["calls"], r["round"], r["loop"]) for r in rows(everything, "loops") if "loop" in r]

    assert sorted(timed) == sorted(
        (calls, number, route)
        for calls, rounds in ((20_000, 7), (200_000, 2), (40_000, 10))  # 400_000 in ten parts
        for number in range(rounds)
        for route in ("vdso", "raw", "coarse")
    )
    assert timed[0][2] != timed[3][2]  # another route begins the next round


def test_the_system_call_takes_longer_than_the_vdso(everything: Path) -> None:
    if not SERVED_BY_THE_VDSO:
        pytest.skip("the kernel's clock source cannot be read in user space")
    interval = loops.slowdown([r for r in rows(everything, "loops") if "loop" in r], 20_000)

    assert interval is not None
    assert 1 < interval.low <= interval.estimate <= interval.high


def test_every_slowdown_says_over_what_its_interval_is(page: str) -> None:
    slow = page[page.index("Time that the vDSO saves") :]

    over = {calls: markdown_row(slow, calls)[2:4] for calls in ("20 000", "200 000", "400 000")}

    assert over["200 000"] == ["–", "2 processes"]  # too few for an interval
    assert over["20 000"][1] == "7 processes"
    assert over["400 000"][1] == "10 parts of one process"
    assert all(re.fullmatch(r"\[\d+\.\d\d, \d+\.\d\d\]", over[n][0]) for n in ("20 000", "400 000"))


def test_the_mode_of_old_without_vdso_is_the_one_that_strace_sees(page: str) -> None:
    assert markdown_row(page, "0: system call")[1] == "100%"
    assert markdown_row(page, "1: vDSO")[1] == ("0%" if SERVED_BY_THE_VDSO else "100%")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="clocks are compared between CPUs")
def test_no_clock_warps_here(everything: Path) -> None:
    found = {r["warp"]: r["warps"] for r in rows(everything, "warp")}
    assert found.pop(warp.UNORDERED) >= 0  # an artefact: any number, and no fault

    assert set(found.values()) == {0}


def test_one_cpu_alone_is_refused_and_among_others_a_line_of_the_page(
    lab: Lab, tmp_path: Path
) -> None:
    prefix = ("taskset", "-c", str(min(os.sched_getaffinity(0))))

    done = lab("warp", "--quick", "--quiet", "--output", tmp_path, prefix=prefix)

    assert (done.returncode, done.stdout) == (1, "")
    first, *_ = done.stderr.splitlines()
    assert first == (
        "timens-study: lab: warp: only one CPU may be used, there is nothing to compare"
    )


def test_two_points_calibrate_better_than_a_sleep(everything: Path) -> None:
    found = [r for r in rows(everything, "tsc-clock") if r["tsc_clock"] == "calibration"]
    spread = {
        (r["method"], r["wait_us"]): max(r["mhz"]) / min(r["mhz"]) - 1 for r in found if r["mhz"]
    }
    assert spread["two_points", 500_000] < 1e-4
    truth = next(r["mhz"][0] for r in found if r["method"] == "two_points")
    assert min(next(r["mhz"] for r in found if r["wait_us"] == 10)) > 1.5 * truth


def test_each_piece_is_an_arm_that_differs_in_nothing_else(everything: Path) -> None:
    environment = json.loads((everything / "anatomy" / "environment.json").read_text())
    arms = {arm["name"]: arm for arm in environment["arms"]}
    baseline = arms["baseline"]

    def own(name: str) -> set[str]:
        spaces = arms[name]["namespaces"]
        return {n for n, link in spaces.items() if link != baseline["namespaces"][n]}

    assert own("timens") - {"user"} == {"time"}
    assert own("userns") == {"user"}
    assert own("seccomp") <= {"uts", "user"}
    assert arms["seccomp"]["seccomp_mode"] == 2
    assert own("container") - own("container_notime") == {"time"}
    assert own("container_seccomp") == own("container")
    assert (arms["container"]["seccomp_mode"], arms["container_seccomp"]["seccomp_mode"]) == (0, 2)
    if os.geteuid() == 0:
        [memory] = {anatomy.MEMCG_ROOT, anatomy.MEMCG_OWN} & set(arms)
        assert arms[memory]["cgroup"] != baseline["cgroup"]
        assert own(memory) <= {"uts"}
    assert len({arm["binary_sha256"] for arm in arms.values()}) == 1


def cputime_calls(bench: Path, calls: int) -> list[str | Path]:
    metric = "clock_gettime_process_cputime"
    counts = ("--batch", f"{metric}=10", "--calls", f"{metric}={calls}")
    return [bench, "measure", "--json", "--metrics", metric, *counts]


def test_a_commands_readings_are_counted_twice_with_the_same_result(lab: Lab, bench: Path) -> None:
    done = lab("vdso-used", "--", *cputime_calls(bench, 300))

    assert done.returncode == 0
    assert json.loads(done.stdout)["metric"] == "clock_gettime_process_cputime"
    row = markdown_row(done.stderr, "`clock_gettime`", "CLOCK_PROCESS_CPUTIME_ID")
    assert int(row[2]) >= 300
    assert row[3] == vdso_used.REASONS["cpu_time_clock"]
    [confirmed] = re.findall(r"saw (\d+) `clock_gettime`", done.stderr)
    assert int(confirmed) >= int(row[2])  # strace does not tell the clocks apart


def test_what_a_program_reads_in_user_space_is_seen_by_neither(lab: Lab) -> None:
    if not SERVED_BY_THE_VDSO:
        pytest.skip("the kernel's clock source cannot be read in user space")

    done = lab("vdso-used", "--", "date", "+%N")

    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert "No reading of the time entered the kernel" in done.stderr
    assert "over a second run of the command, saw none of them." in done.stderr


def test_the_status_of_a_watched_command_is_passed_on(lab: Lab) -> None:
    assert lab("vdso-used", "--", "sh", "-c", "exit 3").returncode == 3
    assert lab("vdso-used", "--quiet", "--", "sh", "-c", "exit 4").returncode == 4
    missing = lab("vdso-used", "--", "no-such-command")
    assert (missing.returncode, missing.stdout) == (127, "")
    assert missing.stderr == (
        "timens-bench: vdso-used: no-such-command: No such file or directory\n"
    )


def test_without_strace_the_count_stands_unconfirmed(lab: Lab, tmp_path: Path) -> None:
    for name in ("sh", "true", "env"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")

    done = lab("vdso-used", "--", "true", env={**os.environ, "PATH": str(tmp_path)})

    assert done.returncode == 0
    assert "Not confirmed by strace: strace: not found (apt-get install strace)." in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["loops", "--", "date"], 2, "lab: loops: takes no command\nhint: only vdso-used\n"),
        (["page"], 2, "lab: page: --output DIR is missing\n"),
        (
            ["warp", "--quick", "--quiet", "--output", "/proc/nowhere"],
            1,
            "lab: /proc/nowhere: No such file or directory\n",
        ),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    lab: Lab, words: list[str], status: int, message: str
) -> None:
    done = lab(*words)

    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr == f"timens-study: {message}"


def test_a_signal_ends_it_with_the_status_of_the_signal(tmp_path: Path) -> None:
    command = [BIN / "timens-study", "lab", "loops", "--output", tmp_path / "results"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tool:
        assert tool.stderr is not None
        assert tool.stderr.readline() == "lab: loops\n"
        assert tool.stderr.readline().startswith("loops: 5000000 calls")
        time.sleep(0.1)
        tool.send_signal(signal.SIGTERM)
        said = tool.stderr.read().splitlines()[-1]
        assert tool.wait(timeout=30) == 128 + signal.SIGTERM
    assert said == f"timens-study: signal 15: {tmp_path}/results: what was finished is kept"
