# SPDX-License-Identifier: LGPL-2.1-or-later
"""Entering namespaces that exist.  Source: setns(2)."""

import json
import os
import time

import pytest

SHOW = "for n in cgroup ipc mnt net pid time user uts; do readlink /proc/self/ns/$n; done"
NAMESPACES = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"]


@pytest.fixture
def container(run, rootfs):
    """A running container of root's; its description."""
    yield from started(run, rootfs)


def started(runner, rootfs):
    reader, writer = os.pipe()
    options = ["--info-fd", writer, "--boottime", "+1000", "--hostname", "first"]
    child = runner.start(*options, rootfs, "sleep", "60", pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as pipe:
        yield json.load(pipe)
    child.kill()
    child.communicate()


def join(container, *names):
    return [f"--join={name}=/proc/{container['pid']}/ns/{name}" for name in names]


def test_a_joined_time_namespace_brings_its_clocks(run, rootfs, container):
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    result = run(*join(container, "time"), rootfs, "cat", "/proc/uptime")
    after = time.clock_gettime(time.CLOCK_BOOTTIME)

    assert (result.returncode, result.stderr) == (0, "")
    assert before + 1000 - 0.01 <= float(result.stdout.split()[0]) <= after + 1000


@pytest.mark.parametrize(
    "joined",
    [
        ["time"],
        ["uts", "ipc"],
        ["net", "user"],
        ["pid", "user"],
        ["user", "pid", "time", "net", "ipc", "uts", "cgroup"],
    ],
)
def test_joined_namespaces_are_the_others_and_all_else_is_new(run, rootfs, container, joined):
    result = run(*join(container, *joined), rootfs, "sh", "-c", SHOW)
    assert (result.returncode, result.stderr) == (0, "")
    inside = dict(zip(NAMESPACES, result.stdout.split(), strict=True))

    same = [name for name in NAMESPACES if inside[name] == container["namespaces"][name]]
    assert sorted(same) == sorted(joined)


def test_a_users_container_can_be_joined_by_that_user(run_as_user, rootfs):
    containers = started(run_as_user, rootfs)
    container = next(containers)
    result = run_as_user(*join(container, "user", "time"), rootfs, "cat", "/proc/uptime")
    alone = run_as_user(*join(container, "time"), rootfs, "true")
    list(containers)

    assert (result.returncode, result.stderr) == (0, "")
    assert float(result.stdout.split()[0]) >= 1000
    assert alone.returncode == 125
    assert alone.stderr == (
        "timens-run: join namespaces: cannot enter the time namespace: Operation not permitted\n"
        "hint: its user namespace must be entered as well: --join user=PATH\n"
    )


def test_a_joined_mount_namespace_shows_its_files(run, container):
    words = ["--only", "ipc", *join(container, "mnt"), "ls", "/"]

    assert run(*words).stdout.split() == ["bin", "dev", "etc", "proc", "sys", "tmp"]


def test_a_file_that_is_no_namespace_is_refused(run, rootfs):
    result = run("--join", "net=/etc/passwd", rootfs, "true")

    assert result.returncode == 125
    assert result.stderr.startswith(
        "timens-run: join namespaces: cannot enter the net namespace: Invalid argument\nhint: "
    )


def test_a_missing_namespace_is_named(run, rootfs):
    result = run("--join", "net=/proc/1/ns/nothing", rootfs, "true")

    assert result.stderr == (
        "timens-run: open namespaces: cannot open /proc/1/ns/nothing: No such file or directory\n"
    )
