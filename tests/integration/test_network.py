# SPDX-License-Identifier: LGPL-2.1-or-later
"""The network: none, the host's, or connected by pasta(1)."""

import contextlib
import os
import shutil
import socket
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


needs_tun = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK), reason="no /dev/net/tun (CONFIG_TUN)"
)


@needs_tun
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


# Its gateway is the host: what listens on the host's loopback answers there, pasta(1) --map-gw.
ASK_GATEWAY = """
import socket, struct, sys
routes = [line.split() for line in open("/proc/net/route").readlines()[1:]]
gateway = next(int(r[2], 16) for r in routes if r[1] == "00000000")
address = socket.inet_ntoa(struct.pack("=I", gateway)), int(sys.argv[1])
with socket.create_connection(address, 10) as c:
    c.sendall(b"question")
    print(c.recv(100).decode())
"""


@needs_tun
def test_traffic_goes_out_through_pasta_and_comes_back(run, host_rootfs):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        child = run.start("--net", "pasta", *host_rootfs, "python3", "-c", ASK_GATEWAY, str(port))
        server.settimeout(15)
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b"question"
            connection.sendall(b"answer")
            assert connection.recv(100) == b""  # until the other side has read it
        out, err = child.communicate(timeout=15)

    assert (child.returncode, out, err) == (0, "answer\n", "")


def test_nothing_of_the_hosts_network_is_reached_without_it(run, host_rootfs):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        result = run(*host_rootfs, "python3", "-c", connect)

    assert result.returncode == 1
    assert result.stderr.endswith("ConnectionRefusedError: [Errno 111] Connection refused\n")


def test_without_pasta_the_package_is_named(run, rootfs, tmp_path):
    result = run("--net", "pasta", rootfs, "true", env={"PATH": str(tmp_path)})

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: pasta: cannot run pasta: No such file or directory\n"
        "hint: install the package passt, or use --net none or --net host\n"
    )
