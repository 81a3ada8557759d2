# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of docs/engines.md print what the page says; only numbers may differ."""

import re
from collections.abc import Iterator

import pytest

from conftest import TABLE, Host

SECTION = "## Give a service its own uptime"
OWN = "up 0 min"
MACHINE = """
set -e
mkdir -p /srv/guide /etc/containers/containers.conf.d
ln -s /opt/timens/source/contrib /srv/guide/contrib
cat >/etc/containers/storage.conf <<'END'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
cat >/etc/containers/containers.conf.d/machine.conf <<'END'
[containers]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
END
ln -sf /opt/timens/bin/timens-hook /usr/local/bin/timens-hook
docker tag bb:1 localhost/bb:1
"""


@pytest.fixture(scope="module")
def machine_of_the_guide(docker: Host) -> Iterator[Host]:
    """All engines, configured for a machine without systemd, network and overlays."""
    docker.says(MACHINE)
    yield docker
    docker.says(
        "rm /etc/containers/storage.conf /etc/containers/containers.conf.d/machine.conf"
        " /usr/local/bin/timens-hook"
    )


def commands() -> list[tuple[str, str]]:
    """(command, expected output) of each `$ ` line of the section."""
    section = TABLE.read_text().split(SECTION)[1].split("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    parts = [re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:] for block in blocks]
    return [pair for p in parts for pair in zip(p[::2], p[1::2], strict=True)]


def shape(text: str) -> str:
    """Without numbers and ids, and without the width that they take."""
    return re.sub(r"\s+", " ", re.sub(r"\b[0-9a-f]{64}\b|\d+", "N", text)).strip()


@pytest.mark.offsets
def test_the_guide_prints_what_it_says(machine_of_the_guide: Host):
    host = machine_of_the_guide
    said = commands()
    assert len(said) > 8
    for command, expected in said:
        done = host.run(f"cd /srv/guide && {command.replace('IMAGE', 'localhost/bb:1')}")
        output = done.stdout + done.stderr
        assert shape(output) == shape(expected), command
        assert (OWN in output) == (OWN in expected), command
        assert ("49 days, 17:00" in output) == ("49 days" in expected), command
