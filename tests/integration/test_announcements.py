# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names, process ids, the start gate, and the end that comes after a time."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

NAMESPACES = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"]


def wait_for(condition, timeout_s=10):
    end = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def pipe_from_child(run, option, *args):
    """Starts a container that writes to a pipe of ours; returns it and the reading end."""
    reader, writer = os.pipe()
    child = run.start(option, writer, *args, pass_fds=[writer])
    os.close(writer)
    return child, os.fdopen(reader)


def test_info_names_process_namespaces_and_offsets(run_as_user, rootfs):
    options = ["--boottime", "+3600", "--monotonic", "-0.5"]
    child, reader = pipe_from_child(run_as_user, "--info-fd", *options, rootfs, "sleep", "60")
    with reader:
        info = json.load(reader)

    assert info["offsets"] == {
        "monotonic": {"s": -1, "ns": 500_000_000},
        "boottime": {"s": 3600, "ns": 0},
    }
    assert info["namespaces"] == {
        name: str(Path(f"/proc/{info['pid']}/ns/{name}").readlink()) for name in NAMESPACES
    }
    child.terminate()
    child.communicate()


def test_who_reads_the_info_to_its_end_may_then_open_the_gate(run, rootfs):
    gate, opener = os.pipe()
    reader, writer = os.pipe()
    options = ["--info-fd", writer, "--sync-fd", gate]
    child = run.start(*options, rootfs, "echo", "through", pass_fds=[writer, gate])
    os.close(writer)
    os.close(gate)
    with os.fdopen(reader) as pipe:
        assert json.loads(pipe.read())["pid"] > 0
    os.close(opener)

    assert child.communicate(timeout=10) == ("through\n", "")


def test_info_on_standard_output_comes_before_what_the_command_says(run, rootfs):
    info, said = run("--info-fd", 1, rootfs, "echo", "said").stdout.splitlines()

    assert json.loads(info)["pid"] > 0
    assert said == "said"


def test_the_pid_file_holds_the_process_and_goes_with_it(run, rootfs, tmp_path):
    file = tmp_path / "pid"
    child = run.start("--pid-file", file, rootfs, "sleep", "60")
    pid = int(wait_for(lambda: file.exists() and file.read_text()))

    assert Path(f"/proc/{pid}/ns/pid").readlink() != Path("/proc/self/ns/pid").readlink()
    child.terminate()
    child.communicate()
    assert not file.exists()


def test_a_pid_file_that_exists_is_neither_written_nor_removed(run, rootfs, tmp_path):
    file = tmp_path / "pid"
    file.write_text("precious")
    result = run("--pid-file", file, rootfs, "true")

    assert result.stderr == (
        f"timens-run: announce: cannot make {file}: File exists\n"
        "hint: a launcher that was killed leaves it: remove it if nothing runs\n"
    )
    assert file.read_text() == "precious"


def test_the_command_waits_at_the_gate(run, rootfs, tmp_path):
    reader, writer = os.pipe()
    pid_file = tmp_path / "pid"
    options = ["--sync-fd", reader, "--pid-file", pid_file]
    child = run.start(*options, rootfs, "echo", "through", pass_fds=[reader])
    os.close(reader)
    wait_for(pid_file.exists)
    time.sleep(0.1)
    state = Path(f"/proc/{pid_file.read_text().strip()}/comm").read_text()

    assert (child.poll(), state) == (None, "timens-run\n")
    os.write(writer, b"!")
    os.close(writer)
    assert child.communicate(timeout=10) == ("through\n", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_at_the_gate_is_the_end(run, rootfs, tmp_path, number):
    reader, writer = os.pipe()
    pid_file = tmp_path / "pid"
    options = ["--sync-fd", reader, "--pid-file", pid_file]
    child = run.start(*options, rootfs, "echo", "through", pass_fds=[reader])
    wait_for(pid_file.exists)
    child.send_signal(number)
    out, err = child.communicate(timeout=10)
    os.close(reader)
    os.close(writer)

    assert (child.returncode, out) == (125, "")
    assert err == (
        f"timens-run: start gate: {number.name[3:]} before the start: Interrupted system call\n"
    )


def test_a_name_is_the_hostname_and_belongs_to_one_container(run, rootfs):
    child = run.start("--name", "fig", rootfs, "sh", "-c", "hostname; exec sleep 60")
    assert child.stdout.readline() == "fig\n"
    second = run("--name", "fig", rootfs, "true")
    other = run("--name", "date", rootfs, "hostname")
    child.kill()
    child.communicate()
    wait_for(lambda: run("--name", "fig", rootfs, "true").returncode == 0)

    assert second.returncode == 125
    assert second.stderr == (
        "timens-run: name: cannot take the name 'fig': Address already in use\n"
        "hint: a container of yours with this name is running\n"
    )
    assert other.stdout == "date\n"


@pytest.mark.parametrize("options", [[], ["--no-init"]])
def test_a_command_that_ignores_the_end_is_killed_after_the_timeout(run, rootfs, options):
    script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    child = run.start("--kill-timeout", "0.3", *options, rootfs, "sh", "-c", script)
    assert child.stdout.readline() == "up\n"
    start = time.monotonic()
    child.terminate()
    child.communicate(timeout=10)

    assert time.monotonic() - start >= 0.3
    assert child.returncode == 128 + signal.SIGKILL
