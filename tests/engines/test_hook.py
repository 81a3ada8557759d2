# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clocks by Podman's precreate hook, under the runtime that Podman brings; and by Quadlet."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_engines import DAY_S, IMAGE, RUN, UPTIME, check_exec, host_uptime_s

from conftest import PODMAN, USER_ID, Host

STOCK = PODMAN.replace("--runtime timens", "--runtime crun")
STOCK_RUN = f"{STOCK} run --network=none"
HOOKS = "/usr/share/containers/oci/hooks.d"
CONTRIB = Path("/opt/timens/source/contrib")
LOG = "/tmp/messages"
STEP_S = 0.01  # /proc/uptime counts in hundredths


@pytest.fixture(scope="module")
def hooked(podman: Host, rootless: Host) -> Iterator[Host]:
    """The hook of contrib/ where Podman looks, and a system log."""
    podman.says("ln -s /opt/timens/bin/timens-hook /usr/local/bin/timens-hook")
    podman.says(f"mkdir -p {HOOKS} && cp {CONTRIB}/podman-hook.json {HOOKS}/timens.json")
    podman.says(f"busybox syslogd -O {LOG}; while ! [ -S /dev/log ]; do sleep 0.1; done")
    yield rootless
    podman.says(f"rm {HOOKS}/timens.json /usr/local/bin/timens-hook")


def logged(host: Host) -> str:
    """What the hook has told the system log since the last look."""
    return host.says(f"sleep 0.2; grep timens-hook {LOG}; : >{LOG}")


@pytest.mark.feature("crun by hook", "run with run.timens.uptime=0: up 0 min")
def test_hook_run_by_annotation(hooked: Host):
    said = hooked.says(f"{STOCK_RUN} --rm --annotation run.timens.uptime=0 {IMAGE} uptime")
    assert "up 0 min" in said


@pytest.mark.feature("crun by hook, rootless", "run with run.timens.uptime=0: up 0 min")
def test_hook_rootless_run_by_annotation(hooked: Host):
    said = hooked.says(
        f"{STOCK_RUN} --rm --annotation run.timens.uptime=0 {IMAGE} uptime", user=USER_ID
    )
    assert "up 0 min" in said


@pytest.mark.feature("crun by hook", "exec enters the time namespace")
def test_hook_exec(hooked: Host):
    check_exec(
        hooked,
        f"{STOCK_RUN} -d --name ex --annotation run.timens.offset=1d {IMAGE} sleep 100",
        f"{STOCK} exec ex {UPTIME}",
        f"{STOCK} rm -f -t 0 ex",
    )


@pytest.mark.feature("crun by hook, rootless", "exec enters the time namespace")
def test_hook_rootless_exec(hooked: Host):
    check_exec(
        hooked,
        f"{STOCK_RUN} -d --name ex --annotation run.timens.offset=1d {IMAGE} sleep 100",
        f"{STOCK} exec ex {UPTIME}",
        f"{STOCK} rm -f -t 0 ex",
        USER_ID,
    )


def test_without_an_annotation_there_is_no_time_namespace(hooked: Host):
    ours = hooked.says("readlink /proc/self/ns/time")
    assert hooked.says(f"{STOCK_RUN} --rm {IMAGE} readlink /proc/self/ns/time") == ours


@pytest.mark.parametrize("user", [0, USER_ID])
def test_every_start_begins_anew(hooked: Host, user: int):
    name = f"anew{user}"
    wish = "--annotation run.timens.uptime=49d"
    hooked.says(f"{STOCK_RUN} -d --name {name} {wish} {IMAGE} sleep 100", user=user)
    try:
        before = host_uptime_s(hooked)
        hooked.says(f"{STOCK} restart -t 0 {name}", user=user)
        inside = hooked.uptime_s(f"{STOCK} exec {name} {UPTIME}", user=user)
        elapsed = host_uptime_s(hooked) - before
        assert 49 * DAY_S <= inside <= 49 * DAY_S + elapsed + STEP_S
    finally:
        hooked.says(f"{STOCK} rm -f -t 0 {name}", user=user)


@pytest.mark.parametrize(("program", "user"), [(STOCK, 0), (STOCK, USER_ID), (PODMAN, 0)])
def test_inspect_shows_what_was_asked_for_and_what_it_made(hooked: Host, program: str, user: int):
    """With timens-oci the hook has done the work before: both ways end in the same offsets."""
    wish = "--annotation run.timens.boottime=1d"
    hooked.says(f"{program} run --network=none -d --name look {wish} {IMAGE} sleep 9", user=user)
    try:
        (told,) = json.loads(hooked.says(f"{program} inspect look", user=user))
        assert told["Config"]["Annotations"]["run.timens.boottime"] == "1d"
        config = json.loads(hooked.says(f"cat {told['OCIConfigPath']}"))
        assert config["linux"]["timeOffsets"] == {"boottime": {"secs": DAY_S}}
        assert config["linux"]["namespaces"].count({"type": "time"}) == 1
        offsets = hooked.says(f"cat /proc/{told['State']['Pid']}/timens_offsets").split()
        assert offsets == ["monotonic", "0", "0", "boottime", str(DAY_S), "0"]
    finally:
        hooked.says(f"{program} rm -f -t 0 look", user=user)


@pytest.mark.parametrize("user", [0, USER_ID])
def test_a_wish_that_cannot_be_stops_the_container_and_the_log_says_why(hooked: Host, user: int):
    run = f"{STOCK_RUN} --name wrong --annotation run.timens.uptime=5M {IMAGE} uptime"
    done = hooked.run(run, user=user)
    hooked.run(f"{STOCK} rm wrong", user=user)
    assert (done.returncode, done.stdout) == (126, "")
    assert "executing [timens-hook]: exit status 1" in done.stderr
    said = logged(hooked)
    assert "run.timens.uptime: '5M'" in said
    assert "hint: " in said


def test_what_crun_cannot_do_is_explained_in_the_log(hooked: Host):
    hooked.says(f"{STOCK_RUN} -d --name first {IMAGE} sleep 100")
    try:
        join = f"--pid=container:first --annotation run.timens.uptime=0 {IMAGE} uptime"
        done = hooked.run(f"{STOCK_RUN} --rm {join}")
        assert (done.returncode, done.stdout) == (126, "")
        assert "crun: unshare: Invalid argument" in done.stderr
        assert "joins a pid namespace" in logged(hooked)
        assert "up 0 min" in hooked.says(f"{RUN} --rm {join}")
    finally:
        hooked.says(f"{STOCK} rm -f -t 0 first")


@pytest.mark.parametrize("program", [STOCK, PODMAN])
def test_an_image_has_no_say_in_its_clocks(hooked: Host, program: str):
    """Neither by annotation, label nor environment: only who starts it has."""
    wishes = " ".join(f"--{kind} run.timens.uptime=0" for kind in ("annotation", "label", "env"))
    hooked.says("mkdir -p /srv/own && echo FROM localhost/bb:1 >/srv/own/Containerfile")
    hooked.says(f"{program} build {wishes} -t localhost/own:1 /srv/own")
    has = hooked.says(f"{program} image inspect localhost/own:1")
    (image,) = json.loads(has)
    assert image["Annotations"]["run.timens.uptime"] == "0"
    assert image["Labels"]["run.timens.uptime"] == "0"
    before = host_uptime_s(hooked)
    inside = hooked.uptime_s(f"{program} run --network=none --rm localhost/own:1 {UPTIME}")
    assert before <= inside <= host_uptime_s(hooked) + STEP_S


@pytest.mark.feature("Podman", "Quadlet")
def test_quadlet_starts_a_service_with_its_own_uptime(podman: Host):
    """What systemd would start, with its %N and %t; --cgroups=split needs the cgroup of a unit."""
    units = "/etc/containers/systemd"
    podman.says(f"mkdir -p {units} && cp {CONTRIB}/clocks.container {units}")
    unit = podman.says("/usr/libexec/podman/quadlet -dryrun")
    (start,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(start.removeprefix("ExecStart=").replace("%N", "clocks"))
    assert words[:3] == ["/usr/bin/podman", "--runtime=timens", "run"]
    assert "run.timens.uptime=0" in words
    program = f"{PODMAN} run"
    rest = [w.replace("%t", "/run") for w in words[3:] if w != "--cgroups=split"]
    podman.says(f"{program} {shlex.join(rest)}")
    try:
        podman.says(
            f"for i in $(seq 50); do {PODMAN} logs systemd-clocks | grep -q up && break; done"
        )
        assert "up 0 min" in podman.says(f"{PODMAN} logs systemd-clocks")
    finally:
        podman.says(f"{PODMAN} rm -f -t 0 systemd-clocks; rm {units}/clocks.container")
