# SPDX-License-Identifier: LGPL-2.1-or-later
"""Options that are given twice: the last word counts, and lists add up."""

from pathlib import Path

import pytest

OWN_UTS = str(Path("/proc/self/ns/uts").readlink())


@pytest.mark.parametrize(
    ("options", "script", "said"),
    [
        ("--user 7 --user 3:4", "id", "uid=3 gid=4"),
        ("--hostname a --hostname b", "hostname", "b"),
        ("--workdir /etc --workdir /tmp", "pwd", "/tmp"),
        ("--env A=1 --env A=2", "echo $A", "2"),
        ("--clear-env --env A=1 --clear-env", "echo $A", "1"),
        (
            "--seccomp /nowhere --seccomp unconfined",
            "grep Seccomp: /proc/self/status",
            "Seccomp:\t0",
        ),
        ("--rlimit nofile=64 --rlimit nofile=65", "ulimit -n", "65"),
        ("--oom-score-adj 5 --oom-score-adj 7", "cat /proc/self/oom_score_adj", "7"),
        ("--net host --net none", "ls /sys/class/net", "lo"),
        ("--join uts=/nowhere --join uts=/proc/self/ns/uts", "readlink /proc/self/ns/uts", OWN_UTS),
        ("--share ipc --share uts", "readlink /proc/self/ns/uts", OWN_UTS),
        ("--cap-drop all --cap-drop all", "grep CapEff /proc/self/status", f"CapEff:\t{0:016x}"),
    ],
)
def test_the_last_word_counts_and_lists_add_up(run, rootfs, options, script, said):
    result = run(*options.split(), rootfs, "sh", "-c", script)

    assert (result.stderr, result.stdout) == ("", f"{said}\n")


def test_namespaces_of_several_only_add_up(run):
    result = run(
        "--only", "time", "--only", "uts", "readlink", "/proc/self/ns/uts", "/proc/self/ns/time"
    )
    time, uts = result.stdout.splitlines()[::-1]

    assert uts != OWN_UTS
    assert time != str(Path("/proc/self/ns/time").readlink())


def test_each_clock_may_be_set_once(run, rootfs):
    """Which of two settings a later reader would believe is not left to order."""
    for words, step, first in (
        ("--uptime 0 --uptime 0", "--uptime", "uptime"),
        ("--boottime 1 --near-wrap ms32", "--near-wrap", "boottime"),
    ):
        assert run(*words.split(), rootfs, "true").stderr == (
            f"timens-run: {step}: --{first} has set this clock already: Invalid argument\n"
        )
