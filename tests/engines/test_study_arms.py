# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engines' arms of a study, each with its own engine, in the throw-away machine."""

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import machine
import pytest

from conftest import Host

CODE = "/opt/timens/source/analysis"
BIN = "/opt/timens/source/build/bin"
START = (
    f"import sys; sys.path.insert(0, '{CODE}'); sys.argv[0] = '{BIN}/timens-study';"
    "from timens_analysis.cli import main; sys.exit(main())"
)
EQUAL = ("scheduler", "cpus", "seccomp_mode", "binary_sha256")


def give_python(root: Path) -> None:
    """This host's Python into a tree that has none, with the libraries that it lacks there."""
    program = Path(f"/usr/bin/python{sysconfig.get_python_version()}")
    library = Path(sysconfig.get_path("stdlib"))
    without = shutil.ignore_patterns("test", "tests", "*-packages", "__pycache__")
    shutil.copytree(library, root / str(library).lstrip("/"), ignore=without)
    shutil.copy(program, root / "usr/local/bin/python3")
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for path in map(Path, re.findall(r"=> (/\S+)", listed)):
        if not any(root.glob(f"usr/lib/*-linux-gnu/{path.name}")):
            shutil.copy(path, root / "usr/local/lib")


@pytest.fixture(scope="session")
def study(docker: Host) -> Host:
    """The machine with a Python, and a root to measure in."""
    give_python(Path(f"/proc/{docker.inner.init}/root"))
    docker.says(f"ldconfig; mkdir -p /srv/bb/usr/bin; cp {BIN}/timens-bench /srv/bb/usr/bin")
    docker.says("docker import /srv/bb.tar debian:stable")
    return docker


def measured(study: Host, arm: str, *words: str) -> dict[str, dict[str, object]]:
    """Runs the smoke profile with this arm; the arms of its header by name."""
    folder = f"/srv/run-{arm}"
    more = " ".join(words)
    study.says(
        f'python3 -c "{START}" run --profile smoke --no-report --quiet --rootfs /srv/bb'
        f" --metrics clock_getres,timer_create --arms {arm} --output {folder} {more}"
    )
    header = json.loads(study.says(f"cat {folder}/environment.json"))
    records = study.says(f"cat {folder}/records.jsonl").splitlines()
    mine = [r for r in map(json.loads, records) if r["arm"] == arm and r["attempt"] == 1]
    assert {(r["block"], r["metric"]) for r in mine} == {
        (block, metric) for block in range(3) for metric in ("clock_getres", "timer_create")
    }
    return {found["name"]: found for found in header["arms"]}


@pytest.mark.parametrize("arm", ["podman", "crun"])
def test_an_engine_without_cgroups_differs_in_namespaces_alone(study: Host, arm: str) -> None:
    arms = measured(study, arm)

    for field in (*EQUAL, "cgroup"):
        assert arms[arm][field] == arms["baseline"][field], field
    host = arms["baseline"]["namespaces"]
    own = {name for name, link in arms[arm]["namespaces"].items() if link != host[name]}
    assert own >= {"ipc", "mnt", "net", "pid", "uts"}


def test_docker_differs_in_its_cgroup_and_the_header_says_so(study: Host) -> None:
    """Its containers are children of a server: they inherit neither FIFO nor the cgroup."""
    arms = measured(study, "docker", "--no-fifo")

    for field in EQUAL:
        assert arms["docker"][field] == arms["baseline"][field], field
    assert "docker" in str(arms["docker"]["cgroup"])
    assert arms["docker"]["cgroup"] != arms["baseline"]["cgroup"]


def test_nothing_of_the_arms_is_left(study: Host) -> None:
    assert study.says("docker ps -aq; crun list -q").split() == []
    assert "timens-bench" not in study.says("ps -eo args")
    assert not machine.TREE.joinpath("srv/run-crun").exists()
