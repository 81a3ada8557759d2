# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pod of contrib/runtimeclass.yaml under Podman, which is not Kubernetes but plays its pods."""

import pytest

from conftest import PODMAN, Host

CONTRIB = "/opt/timens/source/contrib"


@pytest.mark.offsets
@pytest.mark.feature("Podman", "kube play")
def test_podman_plays_the_pod_with_its_clocks(podman: Host):
    """Podman does not tell the name of a container: /CONTAINER in an annotation finds none."""
    podman.says(
        f"sed '1,/^---/d; s,image: busybox,image: localhost/bb:1,' {CONTRIB}/runtimeclass.yaml"
        " >/srv/pod.yaml"
    )
    podman.says(f"{PODMAN} kube play --network none /srv/pod.yaml")
    try:
        podman.says(f"{PODMAN} wait clocks-young clocks-old")
        assert "up 0 min" in podman.says(f"{PODMAN} logs clocks-young")
        assert "up 0 min" in podman.says(f"{PODMAN} logs clocks-old")
    finally:
        podman.says(f"{PODMAN} kube down /srv/pod.yaml")
