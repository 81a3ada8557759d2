# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the command may not do.  Sources: capabilities(7), prctl(2), getrlimit(2)."""

import os
import time
from pathlib import Path

import pytest

DEFAULT = 0xA80425FB  # what container engines leave to root inside
NET_RAW, SYS_TIME, CHOWN, KILL = 1 << 13, 1 << 25, 1 << 0, 1 << 5
SOME, ALL = DEFAULT & ~CHOWN & ~KILL, (1 << 41) - 1
SETS = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]


def sets_of(result):
    assert (result.returncode, result.stderr) == (0, "")
    found = dict(line.split(":\t") for line in result.stdout.splitlines())
    return [int(found[name], 16) for name in SETS]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [0, DEFAULT, DEFAULT, DEFAULT, 0]),
        (["--cap-drop", "all"], [0, 0, 0, 0, 0]),
        (["--cap-drop", "ALL", "--cap-add", "CAP_CHOWN"], [0, CHOWN, CHOWN, CHOWN, 0]),
        (["--cap-drop=net_raw"], [0, *[DEFAULT & ~NET_RAW] * 3, 0]),
        (["--user", "7"], [0, 0, 0, DEFAULT, 0]),
        (["--user", "7", "--cap-add", "net_raw"], [NET_RAW, NET_RAW, NET_RAW, DEFAULT, NET_RAW]),
        (["--cap-add", "sys_time"], [0, *[DEFAULT | SYS_TIME] * 3, 0]),
        (["--cap-drop", "chown,kill", "--cap-add", "sys_time"], [0, *[SOME | SYS_TIME] * 3, 0]),
    ],
)
def test_all_capability_sets_are_limited(run, rootfs, options, expected):
    assert sets_of(run(*options, rootfs, "grep", "^Cap", "/proc/self/status")) == expected


def test_what_is_dropped_from_all_stays_dropped(run, rootfs):
    """As engines read it."""
    result = run(
        "--cap-add", "all", "--cap-drop", "sys_time", rootfs, "grep", "^Cap", "/proc/self/status"
    )

    assert sets_of(result) == [0, *[ALL & ~SYS_TIME] * 3, 0]


def test_no_new_privileges_is_always_on(run_as_anyone, rootfs):
    show = ["grep", "NoNewPrivs", "/proc/self/status"]

    assert run_as_anyone(rootfs, *show).stdout == "NoNewPrivs:\t1\n"


def test_only_namespaces_takes_no_capability_away(run):
    result = run("--only", "time", "grep", "^Cap", "/proc/self/status")
    ours = dict(
        line.split(":\t")
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("Cap")
    )

    assert sets_of(result) == [int(ours[name], 16) for name in SETS]


@pytest.mark.parametrize("options", [[], ["--cap-add", "sys_time"], ["--share", "user"]])
def test_the_wall_clock_of_the_host_cannot_be_set(run, rootfs, options):
    before = time.time()
    result = run(*options, rootfs, "date", "-s", "2001-01-01 00:00:00")

    assert result.stderr == "date: can't set date: Operation not permitted\n"
    assert before <= time.time() < before + 60


def test_seccomp_filters_the_command_unless_unconfined(run_as_anyone, rootfs):
    show = ["grep", "^Seccomp:", "/proc/self/status"]

    assert run_as_anyone(rootfs, *show).stdout == "Seccomp:\t2\n"
    assert run_as_anyone("--seccomp", "unconfined", rootfs, *show).stdout == "Seccomp:\t0\n"


def test_process_limits(run_as_anyone, rootfs):
    options = ["--rlimit", "nofile=100:200", "--rlimit=core=0"]
    result = run_as_anyone(*options, rootfs, "cat", "/proc/self/limits")
    limits = {line[:26].strip(): line[26:].split()[:2] for line in result.stdout.splitlines()}

    assert limits["Max open files"] == ["100", "200"]
    assert limits["Max core file size"] == ["0", "0"]


def test_a_limit_that_the_caller_may_not_raise_is_refused(run_as_user, rootfs):
    result = run_as_user("--rlimit", "nofile=9999999", rootfs, "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: process limits: cannot set the limit nofile: Operation not permitted\n"
        "hint: a hard limit can only be raised with CAP_SYS_RESOURCE\n"
    )


def test_oom_score(run_as_anyone, rootfs):
    show = ["cat", "/proc/self/oom_score_adj"]

    assert run_as_anyone("--oom-score-adj", "500", rootfs, *show).stdout == "500\n"


def test_an_oom_score_that_the_caller_may_not_lower_is_refused(run_as_user, rootfs):
    result = run_as_user("--oom-score-adj=-500", rootfs, "true")

    assert result.returncode == 125
    assert "/oom_score_adj: Permission denied\nhint: a score can only be lowered" in result.stderr


def test_a_new_session_has_no_terminal_of_the_host(run, rootfs):
    session = "cut -d ' ' -f 6 /proc/self/stat"

    assert run(rootfs, "sh", "-c", session).stdout == "0\n"  # of a process outside
    assert run("--new-session", rootfs, "sh", "-c", session).stdout == "1\n"


def test_the_launchers_own_program_cannot_be_reached_from_a_container_of_roots(run, rootfs):
    """User 0 inside is user 0 outside, who may write to the program (CVE-2019-5736)."""
    if os.geteuid() != 0:
        pytest.skip("only root's container has root's ids")
    show = "cat /proc/1/exe; ls /proc/1/fd/; readlink /proc/1/exe; readlink /bin/sh"
    result = run("--cap-add", "sys_ptrace", rootfs, "sh", "-c", show)

    assert result.stdout == "busybox\n"
    assert result.stderr == "cat: can't open '/proc/1/exe': Permission denied\n"


def test_setuid_programs_of_an_image_give_nothing(run, make_rootfs):
    root = make_rootfs()
    os.chown(root / "bin/busybox", 0, 0)
    (root / "bin/busybox").chmod(0o4755)
    result = run("--user", "7", root, "id", "-u")

    assert result.stdout == "7\n"


def test_the_launcher_itself_refuses_to_be_setuid(run_as_user, rootfs, shared_folder):
    if os.geteuid() != 0:
        pytest.skip("only root may make a program setuid")
    copy = shared_folder / "timens-run-setuid"
    copy.write_bytes(run_as_user.program.read_bytes())
    copy.chmod(0o4755)
    run_as_user.program = copy
    result = run_as_user(rootfs, "true")
    copy.unlink()

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: command line: this program must not be setuid or have capabilities: "
        "Operation not permitted\n"
    )
