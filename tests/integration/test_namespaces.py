# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which namespaces are new, and whose.  Source: namespaces(7)."""

from pathlib import Path

import pytest

ALL = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"]
SHOW = "for n in cgroup ipc mnt net pid time user uts; do readlink /proc/self/ns/$n; done"


def own_namespaces():
    return {name: str(Path(f"/proc/self/ns/{name}").readlink()) for name in ALL}


def namespaces_inside(result):
    assert (result.returncode, result.stderr) == (0, "")
    return dict(zip(ALL, result.stdout.split(), strict=True))


def test_all_eight_namespaces_differ_from_the_hosts(run_as_anyone, rootfs):
    inside = namespaces_inside(run_as_anyone(rootfs, "sh", "-c", SHOW))

    assert [name for name in ALL if inside[name] == own_namespaces()[name]] == []


def test_only_names_the_namespaces_that_are_new(run):
    inside = namespaces_inside(run("--only", "time,uts", "sh", "-c", SHOW))

    assert [n for n in ALL if inside[n] != own_namespaces()[n]] == ["time", "uts"]


def test_shared_namespaces_are_the_hosts(run, rootfs):
    result = run("--share", "net,ipc", "--share=uts,cgroup", rootfs, "sh", "-c", SHOW)
    inside = namespaces_inside(result)

    shared = [n for n in ALL if inside[n] == own_namespaces()[n]]
    assert shared == ["cgroup", "ipc", "net", "uts"]


@pytest.mark.parametrize("shared", ["pid", "user", "time", "net", "user,pid,net,ipc"])
def test_every_shared_namespace_leaves_a_working_container(run, rootfs, shared):
    result = run("--share", shared, rootfs, "sh", "-c", "cat /proc/self/comm; ls /sys")

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:2] == ["cat", "block"]


def test_a_new_pid_namespace_beside_the_hosts_files_has_a_proc_that_shows_it(run):
    result = run("--only", "pid,mnt", "sh", "-c", "echo /proc/[0-9]*")

    assert result.stdout.split() == ["/proc/1", "/proc/2"]


def test_loopback_is_up(run_as_anyone, rootfs):
    result = run_as_anyone(rootfs, "ip", "-o", "link")

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1: lo: <LOOPBACK,UP,LOWER_UP>")
    assert len(result.stdout.splitlines()) == 1


def test_mounts_inside_are_not_seen_outside(run, rootfs):
    result = run("--share", "user", rootfs, "cat", "/proc/self/mountinfo")

    assert " /proc " in result.stdout
    assert str(rootfs) not in Path("/proc/self/mountinfo").read_text(encoding="utf-8")
