# SPDX-License-Identifier: LGPL-2.1-or-later
"""From start to exit status: signals, children, sudden deaths."""

import signal
import subprocess
import time

import pytest


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "exit 255"], 255),
        (["sh", "-c", "kill -9 $$"], 128 + 9),
        (["sh", "-c", "kill -TERM $$"], 128 + 15),
    ],
)
def test_the_exit_status_is_the_payloads(run_as_anyone, rootfs, command, status):
    result = run_as_anyone(rootfs, *command)

    assert (result.returncode, result.stdout, result.stderr) == (status, "", "")


def test_only_passes_the_exit_status_too(run):
    assert run("--only", "time", "sh", "-c", "exit 7").returncode == 7
    assert run("--only", "time", "sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_without_init_the_payload_is_process_1(run, rootfs):
    assert run("--no-init", rootfs, "sh", "-c", "echo $$").stdout == "1\n"
    assert run("--no-init", rootfs, "sh", "-c", "exit 7").returncode == 7
    # 1 is init, 2 made the network and has ended.
    assert run(rootfs, "sh", "-c", "echo $$").stdout == "3\n"


def test_init_reaps_orphans(run, rootfs):
    orphans = "for i in 1 2 3; do (sleep 0.05 &); done; sleep 0.3; cat /proc/[0-9]*/comm; true"
    result = run(rootfs, "sh", "-c", orphans)

    assert (result.returncode, result.stderr) == (0, "")
    # cat was not there yet when the shell listed the folder
    assert result.stdout.split() == ["timens-run", "sh"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
@pytest.mark.parametrize("options", [[], ["--no-init"]])
def test_signals_reach_the_payload(run, rootfs, number, options):
    script = f"trap 'echo caught; exit 9' {number.value}; echo set; while :; do sleep 0.01; done"
    child = run.start(*options, rootfs, "sh", "-c", script)
    assert child.stdout.readline() == "set\n"
    child.send_signal(number)

    assert child.communicate(timeout=10) == ("caught\n", "")
    assert child.returncode == 9


def test_a_signal_that_the_payload_dies_of_is_in_the_status(run, rootfs):
    child = run.start(rootfs, "sh", "-c", "echo set; exec sleep 60")
    assert child.stdout.readline() == "set\n"
    child.send_signal(signal.SIGTERM)

    assert child.wait(10) == 128 + signal.SIGTERM


def test_signals_are_blocked_and_ignored_inside_as_by_the_caller(run, rootfs):
    result = run(rootfs, "grep", "Sig[BI]", "/proc/self/status")
    caller = subprocess.run(
        ["grep", "Sig[BI]", "/proc/self/status"], capture_output=True, text=True, check=True
    )

    assert result.stdout == caller.stdout


@pytest.mark.parametrize("options", [[], ["--no-init"]])
def test_a_killed_launcher_takes_the_container_with_it(run_as_anyone, rootfs, options):
    child = run_as_anyone.start(*options, rootfs, "sh", "-c", "sleep 60 & echo up; wait")
    assert child.stdout.readline() == "up\n"
    while len(run_as_anyone.processes()) < 3:
        time.sleep(0.01)  # the one in the background is not there at once
    child.send_signal(signal.SIGKILL)

    child.stdout.close()
    child.stderr.close()
    assert child.wait(10) == -signal.SIGKILL
    run_as_anyone.assert_nothing_left(rootfs)


def test_a_launcher_killed_at_any_moment_of_set_up_leaves_nothing(run, rootfs):
    for delay_ms in (0.2, 0.5, 1, 1.5, 2, 3):
        child = run.start(rootfs, "sleep", "60")
        time.sleep(delay_ms / 1000)
        child.kill()
        child.communicate()
    run.assert_nothing_left(rootfs)


def test_standard_streams_are_the_callers(run, rootfs):
    result = run(rootfs, "sh", "-c", "cat; echo err >&2", input="in\n")

    assert (result.stdout, result.stderr) == ("in\n", "err\n")


def test_no_descriptor_but_the_standard_three_is_open_inside(run, rootfs):
    result = run(rootfs, "ls", "/proc/self/fd")

    assert result.stdout.split() == ["0", "1", "2", "3"]  # 3 is the folder that ls reads


def test_closed_standard_streams_are_not_taken_for_something_else(run, rootfs):
    script = "ls -l /proc/$$/fd >/tmp/fds; sleep 0"
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    run.prefix = closed
    result = run(rootfs, "sh", "-c", script)
    listed = (rootfs / "tmp/fds").read_text(encoding="utf-8")
    (rootfs / "tmp/fds").unlink()

    assert result.returncode == 0
    assert listed.count("/dev/null") >= 2
    assert "socket:" not in listed
