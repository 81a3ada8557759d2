# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pods as a kubelet asks for them: RuntimeClass, annotations of the pod, containerd's CRI."""

from collections.abc import Callable, Iterator
from pathlib import Path

import machine
import pytest
from test_engines import DAY_S, UPTIME

from conftest import PODMAN, Host, start_server

CONTRIB = Path("/opt/timens/source/contrib")
SOCKET = "/run/containerd-cri/containerd.sock"
CTR = f"ctr --address {SOCKET} --namespace k8s.io"
IMAGE = "localhost/bb:1"
PAUSE = "localhost/pause:1"
STEP_S = 0.01  # /proc/uptime counts in hundredths

# What this machine needs, around the tables of contrib/containerd.toml: a state of its own beside
# the other containerd, no snapshots by overlayfs on overlayfs, no CAP_SYS_RESOURCE, no network.
MACHINE = f"""
root = "/var/lib/containerd-cri"
state = "/run/containerd-cri"
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
"""
PREPARE = f"""
set -e
{PODMAN} import --change 'CMD ["/bin/sleep","1000"]' /srv/bb.tar {PAUSE}
{PODMAN} save --format oci-archive -o /srv/pause.oci {PAUSE}
# TOML wants the keys of the top first.
{{ echo 'version = 2{MACHINE}'; grep -vx 'version = 2' {CONTRIB}/containerd.toml; }} >/tmp/cri.toml
"""
Ask = Callable[..., str]  # what exec says in a container of a pod, and the state of the sandbox


@pytest.fixture(scope="module")
def cri(podman: Host) -> Iterator[Ask]:
    built = machine.build_cri()
    client = f"/opt/timens/source/{built.relative_to(machine.SOURCE)}"
    podman.says(PREPARE)
    start_server(podman, "containerd -c /tmp/cri.toml", f"{CTR} version")
    for archive, name in (("/srv/bb.oci", IMAGE), ("/srv/pause.oci", PAUSE)):
        base = name.partition(":")[0]
        podman.says(f"{CTR} images import --snapshotter native --base-name {base} {archive}")

    def ask(*command: str, name: str = "one", pid: str = "CONTAINER", **annotations: str) -> str:
        wishes = ",".join(f"run.timens.{k.replace('__', '/')}={v}" for k, v in annotations.items())
        words = " ".join([SOCKET, IMAGE, pid, f"'{wishes}'", name, *command])
        return podman.says(f"{client} {words}")

    yield ask
    assert podman.says(f"{CTR} containers ls -q") == ""


def check_shift(host: Host, ask: Callable[[], str], shift_s: float) -> None:
    before = host.uptime_s(UPTIME)
    uptime, state = ask().splitlines()
    after = host.uptime_s(UPTIME)
    assert before + shift_s <= float(uptime.split()[0]) <= after + shift_s + STEP_S
    assert state == "sandbox SANDBOX_READY"


@pytest.mark.offsets
@pytest.mark.feature("containerd CRI", "run with run.timens.uptime=0: up 0 min")
def test_a_pod_has_the_uptime_of_its_annotation(cri: Ask):
    said = cri("uptime", uptime="0")
    assert "up 0 min" in said
    assert "sandbox SANDBOX_READY" in said


@pytest.mark.offsets
@pytest.mark.feature("containerd CRI", "exec enters the time namespace")
def test_exec_reads_the_clocks_of_the_container(podman: Host, cri: Ask):
    check_shift(podman, lambda: cri("cat", "/proc/uptime", offset="1d"), DAY_S)


@pytest.mark.offsets
@pytest.mark.feature("containerd CRI", "time namespace beside a joined pid namespace")
def test_a_pod_that_shares_its_processes_has_clocks(podman: Host, cri: Ask):
    """shareProcessNamespace: crun 1.21 cannot create a time namespace while it joins another."""
    check_shift(podman, lambda: cri("cat", "/proc/uptime", pid="POD", offset="1d"), DAY_S)


@pytest.mark.offsets
@pytest.mark.feature("containerd CRI", "annotation of one container")
@pytest.mark.parametrize(("name", "shift_s"), [("one", DAY_S), ("old", 49 * DAY_S)])
def test_an_annotation_for_one_container_outranks_that_of_the_pod(
    podman: Host, cri: Ask, name: str, shift_s: int
):
    wishes = {"offset": "1d", "offset__old": "49d"}
    check_shift(podman, lambda: cri("cat", "/proc/uptime", name=name, **wishes), shift_s)


@pytest.mark.offsets
def test_a_wrong_annotation_stops_the_pod_and_says_why(cri: Ask):
    with pytest.raises(AssertionError, match=r"run\.timens\.uptime: 'soon' is not a duration"):
        cri("true", uptime="soon")
