# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits where all controllers are cgroup v2's, whatever the host has: a User-Mode Linux.

It boots in a second on the host's own files, read-only; tests/integration/guest_with_cgroup2 is
its PID 1 and asks all questions in one go.
"""

import os
import platform
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from kit import PROJECT

BOOT_TIMEOUT_S = 60
KERNEL = shutil.which("linux.uml")
GUEST = Path(__file__).with_name("guest_with_cgroup2")
PROGRAM = (PROJECT / "build/bin/timens-run").resolve()  # AddressSanitizer has no room in there

pytestmark = pytest.mark.skipif(
    KERNEL is None or platform.machine() != "x86_64",
    reason="no User-Mode Linux (package user-mode-linux)",
)


@pytest.fixture(scope="module")
def answers(rootfs):
    """What the guest says, by name: its lines."""
    words = ["mem=256M", "rootfstype=hostfs", "rootflags=/", "ro", "loglevel=0", "con=null"]
    facts = [f"init={GUEST}", f"RUN={PROGRAM}", f"ROOT={rootfs}"]
    guest = subprocess.Popen(
        [KERNEL, *words, "con0=fd:0,fd:1", *facts],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        process_group=0,
    )  # fmt: skip
    late = threading.Timer(BOOT_TIMEOUT_S, os.killpg, (guest.pid, signal.SIGKILL))
    late.start()
    said, _ = guest.communicate()
    late.cancel()
    parts = said.replace("\r", "").split("== ")[1:]
    assert parts[-1].startswith("end"), said
    return {name: lines for name, *lines in (part.splitlines() for part in parts)}


def test_the_guest_has_what_we_limit_on_v2(answers):
    assert {"cpu", "memory", "pids"} <= set(answers["controllers"][0].split())


def test_a_kernel_without_time_namespaces_is_told_from_all_else(answers):
    assert answers["namespaces"] == [
        "timens-run: time namespace: cannot create a time namespace: Invalid argument",
        "hint: this kernel has none (CONFIG_TIME_NS, Linux 5.6): leave the clocks alone with "
        "--share time",
        "status 125",
    ]


@pytest.mark.parametrize(("how", "status"), [("outside", 128 + 15), ("killed", 128 + 9)])
def test_limits_are_in_force_and_go_with_the_launcher(answers, how, status):
    """Init and the payload are inside, the launcher is not."""
    names = ["pids.max", "memory.max", "memory.swap.max", "cpu.max"]
    said = answers[how]
    files = dict(zip(said[:-2:2], said[1:-2:2], strict=True))

    assert files == {
        f"==> {name} <==": value
        for name, value in zip(names, ["9", str(32 << 20), "0", "50000 100000"], strict=True)
        if name != "memory.swap.max" or f"==> {name} <==" in files  # needs a kernel with swap
    }
    assert said[-2:] == ["0", f"status {status}"]


def test_the_container_is_born_in_its_cgroup(answers):
    """The only write to cgroup.procs is for v1: on v2 clone3(2) puts it there."""
    assert answers["place"] == ["0::/timens", "status 0"]
    assert answers["own"] == ["0::/", "status 0"]


def test_a_process_too_many_cannot_be_forked(answers):
    assert answers["pids"] == ["sh: can't fork: Resource temporarily unavailable", "status 2"]


def test_from_a_cgroup_with_processes_the_next_above_is_taken(answers):
    """cgroups(7): one with members cannot hand controllers down."""
    assert answers["busy"] == ["0::/timens", "status 0"]


def test_a_users_limits_are_where_they_were_delegated(answers):
    assert answers["user"] == ["0::/box/timens", "status 0"]


def test_a_user_in_a_delegated_cgroup_may_limit(answers):
    assert answers["delegated"] == ["sh: can't fork: Resource temporarily unavailable", "status 2"]


def test_what_was_not_delegated_is_refused(answers):
    assert answers["refused"] == [
        "timens-run: cgroup: cannot create a cgroup in /sys/fs/cgroup: Permission denied",
        "hint: limits need root, or a delegated cgroup: "
        "systemd-run --user --scope -p Delegate=yes COMMAND",
        "status 125",
    ]


def test_no_cgroup_is_left(answers):
    assert [line for line in answers["left"] if not line.startswith("ls: cannot access")] == [
        "status 2"
    ]
