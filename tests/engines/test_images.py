# SPDX-License-Identifier: LGPL-2.1-or-later
"""An image cannot ask for clocks, whatever it is labelled; for Podman see test_hook.py."""

from test_engines import CTR, CTR_RUN, DOCKER, UPTIME, host_uptime_s

from conftest import PODMAN, Host

WISH = "run.timens.uptime=0"
STEP_S = 0.01  # /proc/uptime counts in hundredths


def check_reads_as_the_host(host: Host, command: str) -> None:
    before = host_uptime_s(host)
    inside = host.uptime_s(command)
    assert before <= inside <= host_uptime_s(host) + STEP_S


def test_an_image_has_no_say_in_its_clocks_under_docker(docker: Host):
    docker.says(f"docker import --change 'LABEL {WISH}' --change 'ENV {WISH}' /srv/bb.tar own:1")
    assert docker.says("docker inspect own:1").count("run.timens.uptime") == 2
    check_reads_as_the_host(docker, f"{DOCKER} --rm own:1 {UPTIME}")


def test_an_image_has_no_say_in_its_clocks_under_containerd(containerd: Host):
    wishes = " ".join(f"--{kind} {WISH}" for kind in ("annotation", "label", "env"))
    containerd.says("mkdir -p /srv/own && echo FROM localhost/bb:1 >/srv/own/Containerfile")
    containerd.says(f"{PODMAN} build {wishes} -t localhost/own:2 /srv/own")
    containerd.says(f"{PODMAN} save --format oci-archive -o /srv/own.oci localhost/own:2")
    containerd.says(
        f"{CTR} images import --snapshotter native --base-name localhost/own /srv/own.oci"
    )
    check_reads_as_the_host(containerd, f"{CTR_RUN} --rm localhost/own:2 own {UPTIME}")
