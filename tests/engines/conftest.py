# SPDX-License-Identifier: LGPL-2.1-or-later
"""Engines in a throw-away machine, all with one runtime: make engines RUNTIME=timens-oci."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import machine
import pytest
from conformance import RUNTIMES

USER_ID = 1500
PODMAN = (
    "podman --storage-driver vfs --cgroup-manager cgroupfs --events-backend file --runtime timens"
)
TABLE = machine.SOURCE / "docs/engines.md"
BEGIN, END = "<!-- made by make engines: begin -->\n", "<!-- made by make engines: end -->\n"
SEEN: dict[tuple[str, str], str] = {}

PREPARE = f"""
set -e
mkdir -p /srv/bb/bin /srv/bb/etc /srv/bb/tmp /srv/bb/proc /srv/bb/dev /srv/bb/sys
cp /usr/bin/busybox /srv/bb/bin
for applet in $(busybox --list | grep -vx busybox); do ln -s busybox /srv/bb/bin/$applet; done
echo root:x:0:0:root:/root:/bin/sh >/srv/bb/etc/passwd
tar -C /srv/bb -cf /srv/bb.tar .
useradd -m -u {USER_ID} user
mkdir -p -m 700 /run/user/{USER_ID}
chown {USER_ID}:{USER_ID} /run/user/{USER_ID}
mkdir -p /usr/local/bin /etc/containers/containers.conf.d /etc/docker
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runtime", default="timens-oci", choices=sorted(RUNTIMES))
    parser.addoption("--view", default="v1", choices=("v1", "v2", "hybrid"))
    parser.addoption("--write-table", action="store_true", help="fill docs/engines.md")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "feature(engine, what): a cell of docs/engines.md")
    config.addinivalue_line("markers", "offsets: needs a runtime that knows run.timens.*")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--runtime") != "timens-oci":
        skip = pytest.mark.skip(reason="this runtime does not know run.timens.*")
        for item in items:
            if item.get_closest_marker("offsets"):
                item.add_marker(skip)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = (yield).get_result()
    mark = item.get_closest_marker("feature")
    if mark is not None and (report.when == "call" or report.outcome != "passed"):
        SEEN[mark.args] = {"passed": "yes", "skipped": "–"}.get(report.outcome, "**no**")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.getoption("--write-table") or not SEEN:
        return
    engines = list(dict.fromkeys(engine for engine, _ in SEEN))
    features = list(dict.fromkeys(what for _, what in SEEN))
    lines = ["| | " + " | ".join(engines) + " |", "|---|" + "---|" * len(engines)]
    for what in features:
        cells = [SEEN.get((engine, what), "") for engine in engines]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    before, rest = TABLE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    TABLE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after)


class Host:
    """The machine, and the few sentences that all tests speak in."""

    def __init__(self, inner: machine.Machine, runtime: str) -> None:
        self.inner = inner
        self.runtime = runtime

    def run(
        self, command: str, *, user: int = 0, timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        env = {"PODMAN_IGNORE_CGROUPSV1_WARNING": "1"}
        return self.inner.run(command, user=user, timeout_s=timeout_s, env=env)

    def says(self, command: str, *, user: int = 0) -> str:
        """Standard output of a command that must succeed."""
        done = self.run(command, user=user)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def uptime_s(self, command: str, *, user: int = 0) -> float:
        """The first field of the last line that a command prints: /proc/uptime."""
        return float(self.says(command, user=user).splitlines()[-1].split()[0])


# What a container leaves when it is not removed in full; servers and their own files may stay, and
# the folder of a pod in the named cgroup tree, since Podman removes only those of controllers.
LEFT = r"""
pgrep -a 'timens-oci|sleep'
cut -d' ' -f5 /proc/1/mountinfo | grep -E '/(rootfs|merged|vfs|native)(/|$)'
find /sys/fs/cgroup -type d | grep -E '/[^/]*[0-9a-f]{64}[^/]*$' | grep -v /systemd/libpod_parent/
find /run /tmp -name state.json
true
"""


@pytest.fixture(scope="session")
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    runtime = request.config.getoption("--runtime")
    contrib = Path("/opt/timens/source/contrib")
    with machine.Machine(request.config.getoption("--view")) as inner:
        host = Host(inner, runtime)
        host.says(PREPARE)
        # The very files of contrib/, which name the place where make install puts the runtime.
        host.says(f"ln -s {RUNTIMES[runtime]} /usr/local/bin/timens-oci")
        host.says(f"cp {contrib}/containers.conf /etc/containers/containers.conf.d/timens.conf")
        host.says(f"cp {contrib}/docker-daemon.json /etc/docker/daemon.json")
        yield host
        assert host.says(LEFT) == ""


def start_server(host: Host, command: str, ready: str) -> None:
    """A server in the background of the machine; ends with it."""
    waiting = f"for i in $(seq 60); do {ready} >/dev/null 2>&1 && exit 0; sleep 0.5; done; exit 1"
    host.says(
        f"setsid {command} >/tmp/server.log 2>&1 & {waiting} || {{ cat /tmp/server.log; exit 1; }}"
    )


@pytest.fixture(scope="session")
def podman(host: Host) -> Host:
    host.says(f"{PODMAN} import /srv/bb.tar localhost/bb:1")
    host.says(f"{PODMAN} save --format oci-archive -o /srv/bb.oci localhost/bb:1")
    return host


@pytest.fixture(scope="session")
def rootless(host: Host) -> Host:
    host.says(f"{PODMAN} import /srv/bb.tar localhost/bb:1", user=USER_ID)
    return host


@pytest.fixture(scope="session")
def containerd(podman: Host) -> Host:
    start_server(podman, "containerd", "ctr version")
    podman.says("ctr images import --snapshotter native --base-name localhost/bb /srv/bb.oci")
    return podman


@pytest.fixture(scope="session")
def docker(containerd: Host) -> Host:
    start_server(
        containerd,
        "dockerd --containerd /run/containerd/containerd.sock --iptables=false --ip6tables=false"
        " --bridge=none --storage-driver=vfs",
        "docker version",
    )
    containerd.says("docker import /srv/bb.tar bb:1")
    return containerd
