# SPDX-License-Identifier: LGPL-2.1-or-later
"""The network: none, the host's, or connected by pasta(1)."""

import contextlib
import os
import shutil
import time
from pathlib import Path

import pytest


def interfaces(result):
    assert (result.returncode, result.stderr) == (0, "")
    return [line.split(":")[1].strip() for line in result.stdout.splitlines()]


LIST = ["ip", "-o", "link"]


def test_none_is_loopback_alone_and_the_default(run, rootfs):
    assert interfaces(run("--net", "none", rootfs, *LIST)) == ["lo"]
    assert interfaces(run(rootfs, *LIST)) == ["lo"]


def test_host_is_the_hosts_network(run_as_anyone, rootfs):
    inside = Path("/proc/self/ns/net").readlink()

    result = run_as_anyone("--net", "host", rootfs, "readlink", "/proc/self/ns/net")
    assert (result.stdout, result.stderr) == (f"{inside}\n", "")


def pasta_processes():
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if comm.read_text(encoding="utf-8").startswith(("pasta", "passt")):
                found.append(comm.parent.name)
    return found


@pytest.mark.skipif(not os.access("/dev/net/tun", os.R_OK), reason="no /dev/net/tun (CONFIG_TUN)")
def test_pasta_connects_and_ends_with_the_container(run, rootfs):
    if shutil.which("pasta") is None:
        pytest.skip("pasta is not installed (package passt)")
    before = pasta_processes()
    child = run.start("--net", "pasta", rootfs, "sh", "-c", "ip -o link; ip route; sleep 60")
    names = [child.stdout.readline().split(":")[1].strip() for _ in range(2)]
    route = child.stdout.readline()

    assert names[0] == "lo"
    assert route.startswith("default via ")
    assert f"dev {names[1]}" in route
    child.kill()
    child.communicate()
    end = time.monotonic() + 5
    while pasta_processes() != before and time.monotonic() < end:
        time.sleep(0.02)
    assert pasta_processes() == before


def test_without_pasta_the_package_is_named(run, rootfs, tmp_path):
    result = run("--net", "pasta", rootfs, "true", env={"PATH": str(tmp_path)})

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: pasta: cannot run pasta: No such file or directory\n"
        "hint: install the package passt, or use --net none or --net host\n"
    )
