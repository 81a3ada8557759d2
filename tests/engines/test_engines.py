# SPDX-License-Identifier: LGPL-2.1-or-later
"""Podman, containerd and Docker make, enter, pause and end containers through the runtime."""

import pytest

from conftest import PODMAN, USER_ID, Host

DAY_S = 86400
UPTIME = "cat /proc/uptime"
CTR = "ctr --timeout 30s"
CTR_RUN = f"{CTR} run --snapshotter native --runc-binary /usr/local/bin/timens-oci"
IMAGE = "localhost/bb:1"
RUN = f"{PODMAN} run --network=none"
DOCKER = "docker run --runtime timens --network none"


def host_uptime_s(host: Host) -> float:
    return host.uptime_s(UPTIME)


@pytest.mark.offsets
@pytest.mark.feature("Podman", "run with run.timens.uptime=0: up 0 min")
def test_podman_run_by_annotation(podman: Host):
    said = podman.says(f"{RUN} --rm --annotation run.timens.uptime=0 {IMAGE} uptime")
    assert "up 0 min" in said


@pytest.mark.offsets
@pytest.mark.feature("Podman, rootless", "run with run.timens.uptime=0: up 0 min")
def test_rootless_podman_run_by_annotation(rootless: Host):
    said = rootless.says(
        f"{RUN} --rm --annotation run.timens.uptime=0 {IMAGE} uptime", user=USER_ID
    )
    assert "up 0 min" in said


@pytest.mark.offsets
@pytest.mark.feature("containerd ctr", "run with run.timens.uptime=0: up 0 min")
def test_ctr_run_by_annotation(containerd: Host):
    said = containerd.says(f"{CTR_RUN} --rm --annotation run.timens.uptime=0 {IMAGE} up0 uptime")
    assert "up 0 min" in said


@pytest.mark.offsets
@pytest.mark.feature("Docker", "run with run.timens.uptime=0: up 0 min")
def test_docker_run_by_annotation(docker: Host):
    said = docker.says(f"{DOCKER} --rm --annotation run.timens.uptime=0 bb:1 uptime")
    assert "up 0 min" in said


@pytest.mark.offsets
@pytest.mark.feature("Podman", "global runtime flag")
def test_podman_runtime_flag(podman: Host):
    before = host_uptime_s(podman)
    inside = podman.uptime_s(
        f"{RUN.replace('run --', '--runtime-flag boottime=+1d run --')} --rm {IMAGE} {UPTIME}"
    )
    assert before + DAY_S <= inside <= host_uptime_s(podman) + DAY_S + 0.01


def check_exec(host: Host, start: str, execute: str, remove: str, user: int = 0) -> None:
    """The process that exec adds reads the clocks of the container, between two host readings."""
    host.says(start, user=user)
    try:
        before = host_uptime_s(host)
        inside = host.uptime_s(execute, user=user)
        assert before + DAY_S <= inside <= host_uptime_s(host) + DAY_S + 0.01
    finally:
        host.says(remove, user=user)


@pytest.mark.offsets
@pytest.mark.feature("Podman", "exec enters the time namespace")
def test_podman_exec(podman: Host):
    check_exec(
        podman,
        f"{RUN} -d --name ex --annotation run.timens.offset=1d {IMAGE} sleep 100",
        f"{PODMAN} exec ex {UPTIME}",
        f"{PODMAN} rm -f -t 0 ex",
    )


@pytest.mark.offsets
@pytest.mark.feature("Podman, rootless", "exec enters the time namespace")
def test_rootless_podman_exec(rootless: Host):
    check_exec(
        rootless,
        f"{RUN} -d --name ex --annotation run.timens.offset=1d {IMAGE} sleep 100",
        f"{PODMAN} exec ex {UPTIME}",
        f"{PODMAN} rm -f -t 0 ex",
        USER_ID,
    )


@pytest.mark.offsets
@pytest.mark.feature("containerd ctr", "exec enters the time namespace")
def test_ctr_exec(containerd: Host):
    check_exec(
        containerd,
        f"{CTR_RUN} -d --annotation run.timens.offset=1d {IMAGE} ex sleep 100",
        f"{CTR} task exec --exec-id one ex {UPTIME}",
        f"{CTR} task kill -s KILL ex; sleep 1; {CTR} task rm ex; {CTR} container rm ex",
    )


@pytest.mark.offsets
@pytest.mark.feature("Docker", "exec enters the time namespace")
def test_docker_exec(docker: Host):
    check_exec(
        docker,
        f"{DOCKER} -d --name docker-ex --annotation run.timens.offset=1d bb:1 sleep 100",
        f"docker exec docker-ex {UPTIME}",
        "docker rm -f docker-ex",
    )


@pytest.mark.offsets
@pytest.mark.feature("Podman", "time namespace beside a joined pid namespace")
def test_podman_shares_a_pid_namespace_and_has_its_own_clocks(podman: Host):
    """crun 1.21 fails here: it cannot create a time namespace while it joins another one."""
    podman.says(f"{RUN} -d --name first {IMAGE} sleep 100")
    try:
        said = podman.says(
            f"{RUN} --rm --pid=container:first --annotation run.timens.uptime=0 {IMAGE}"
            " sh -c 'uptime; ps'"
        )
        assert "up 0 min" in said
        assert "sleep 100" in said
    finally:
        podman.says(f"{PODMAN} rm -f -t 0 first")


@pytest.mark.feature("Podman", "pause, unpause, inspect, stop, logs, rm")
def test_podman_life(podman: Host):
    podman.says(f"{RUN} -d --name life {IMAGE} sh -c 'echo started; exec sleep 100'")
    podman.says(f"{PODMAN} pause life")
    state = f"{PODMAN} inspect --format '{{{{.State.Status}}}}' life"
    assert podman.says(state) == "paused\n"
    podman.says(f"{PODMAN} unpause life")
    assert podman.says(state) == "running\n"
    podman.says(f"{PODMAN} stop -t 1 life")
    assert podman.says(f"{PODMAN} logs life") == "started\n"
    podman.says(f"{PODMAN} rm life")


@pytest.mark.feature("Podman, rootless", "stop, kill, inspect, logs, rm")
def test_rootless_podman_life(rootless: Host):
    """Without pause, which needs a cgroup that is the user's own."""
    state = f"{PODMAN} inspect --format '{{{{.State.Status}}}}' life"
    start = f"{RUN} -d --name life {IMAGE} sh -c 'echo started; exec sleep 100'"
    for end in ("stop -t 1", "kill"):
        rootless.says(start, user=USER_ID)
        assert rootless.says(state, user=USER_ID) == "running\n"
        rootless.says(f"{PODMAN} {end} life && {PODMAN} wait life", user=USER_ID)
        assert rootless.says(state, user=USER_ID) == "exited\n"
        assert rootless.says(f"{PODMAN} logs life", user=USER_ID) == "started\n"
        rootless.says(f"{PODMAN} rm life", user=USER_ID)


@pytest.mark.feature("containerd ctr", "pause, resume, ps, metrics, kill")
def test_ctr_life(containerd: Host):
    containerd.says(f"{CTR_RUN} -d {IMAGE} life sleep 100")
    containerd.says(f"{CTR} task pause life")
    assert "PAUSED" in containerd.says(f"{CTR} task ls")
    containerd.says(f"{CTR} task resume life")
    assert len(containerd.says(f"{CTR} task ps life").splitlines()) == 2
    assert "memory" in containerd.says(f"{CTR} task metrics life")
    containerd.says(f"{CTR} task kill -s KILL life; sleep 1; {CTR} task rm life; true")
    containerd.says(f"{CTR} container rm life")


@pytest.mark.feature("Docker", "pause, unpause, stop, logs, rm")
def test_docker_life(docker: Host):
    docker.says(f"{DOCKER} -d --name life bb:1 sh -c 'echo started; exec sleep 100'")
    docker.says("docker pause life && docker unpause life && docker stop -t 1 life")
    assert docker.says("docker logs life") == "started\n"
    docker.says("docker rm life")


@pytest.mark.feature("Podman", "limits: -m, --pids-limit")
def test_podman_limits(podman: Host):
    said = podman.says(
        f"{RUN} --rm -m 64m --pids-limit 50 --cpus 0.5 --cpu-shares 100 {IMAGE}"
        " cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max"
    )
    assert said.split() == ["67108864", "50"]


@pytest.mark.feature("Podman", "--uidmap")
def test_podman_user_namespace(podman: Host):
    said = podman.says(f"{RUN} --rm --uidmap 0:100000:1000 {IMAGE} cat /proc/self/uid_map")
    assert said.split() == ["0", "100000", "1000"]


@pytest.mark.feature("Podman", "terminal")
def test_podman_terminal(podman: Host):
    assert podman.says(f"{RUN} --rm -t {IMAGE} tty").strip() == "/dev/pts/0"


@pytest.mark.parametrize(("program", "status"), [("nope", 127), ("/etc/passwd", 126)])
@pytest.mark.feature("Podman", "exit 127 and 126")
def test_podman_reads_our_errors(podman: Host, program: str, status: int):
    assert podman.run(f"{RUN} --rm {IMAGE} {program}").returncode == status


@pytest.mark.parametrize(("program", "status"), [("nope", 127), ("/etc/passwd", 126)])
@pytest.mark.feature("Docker", "exit 127 and 126")
def test_docker_reads_our_errors(docker: Host, program: str, status: int):
    assert docker.run(f"{DOCKER} --rm bb:1 {program}").returncode == status
