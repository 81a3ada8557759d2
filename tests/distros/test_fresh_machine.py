# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clean clone on a freshly installed distribution: `make test-distros`, minutes each.

The tree is made by mmdebstrap and entered by chroot, which is enough for apt, pip and the
compiler.  What was built is static, so it then runs here, on the host's kernel.
"""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
HOUR_S = 3600
UPTIME_STEP_S = 0.01  # /proc/uptime is cut to hundredths
MMDEBSTRAP = ["mmdebstrap", "-q", "--variant=minbase", "--include=ca-certificates"]
ENTER = """
set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" env HOME=/root DEBIAN_FRONTEND=noninteractive sh -ec "cd /root/clone; $2"
"""


def inside(tree: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in the clone inside the tree; its mounts go away with the namespace."""
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", tree, script],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def tree(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "tree"
    subprocess.run(
        [*MMDEBSTRAP, request.param, folder],
        check=True,
    )
    # A site may have its own certificate authority in front of the package registries.
    subprocess.run(["cp", "-aT", "/etc/ssl", folder / "etc/ssl"], check=True)
    subprocess.run(["git", "clone", "-q", PROJECT, folder / "root/clone"], check=True)
    yield folder
    shutil.rmtree(folder)


def test_bootstrap_then_build_then_run(tree):
    first = inside(tree, "./bootstrap build study")
    assert first.returncode == 0, first.stderr
    said = first.stdout.splitlines()
    assert said[0] == "bootstrap: apt-get update"
    assert said[1].startswith("bootstrap: apt-get install -y --no-install-recommends ")
    assert said[2].startswith("bootstrap: python3 -m venv .venv")

    start = time.monotonic()
    second = inside(tree, "./bootstrap build study")
    assert (second.returncode, second.stdout) == (0, "")
    assert time.monotonic() - start < 2

    build = inside(tree, "make build")
    assert build.returncode == 0, build.stdout + build.stderr
    study = inside(tree, "build/bin/timens-study --help")
    assert study.returncode == 0, study.stderr

    program = tree / "root/clone/build/bin/timens-run"
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    result = subprocess.run(
        [program.resolve(), "--only", "time", "--boottime", f"+{HOUR_S}", "cat", "/proc/uptime"],
        capture_output=True,
        text=True,
        check=False,
    )
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert (result.returncode, result.stderr) == (0, "")
    uptime = float(result.stdout.split()[0])
    assert before + HOUR_S - UPTIME_STEP_S <= uptime <= after + HOUR_S
