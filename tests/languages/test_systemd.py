# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemd as the init of a container with clocks of its own: `make test-languages`.

systemd counts OnBootSec= from its own start when it finds itself in a container, so a timer of four
seconds fires when the uptime inside is ten days and four seconds.
"""

import os
import subprocess
from pathlib import Path

import pytest

UNIFIED = [Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")]
DAY_S = 86_400
UNITS = {
    "clocks.target": "[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=clocks.timer\n",
    "clocks.timer": "[Timer]\nOnBootSec=4s\nAccuracySec=1ms\n",
    "clocks.service": (
        "[Service]\nType=oneshot\nExecStart=sh -c 'cat /proc/uptime >/found/uptime; "
        "systemd-analyze time >/found/analyze; systemctl poweroff --force'\n"
    ),
}


@pytest.fixture(scope="module")
def systemd_root(shared_folder):
    timens_rootfs = Path(__file__).parents[2] / "build/bin/timens-rootfs"
    root = shared_folder / "systemd"
    subprocess.run([timens_rootfs, "create", root, "--include", "systemd,dbus"], check=True)
    return root


@pytest.fixture
def cgroup():
    """A cgroup v2 of the container's own, which systemd may fill."""
    (root, *_) = [path for path in UNIFIED if (path / "cgroup.controllers").exists()]
    group = root / f"timens-systemd-{os.getpid()}"
    group.mkdir()
    yield group
    for path, _, _ in os.walk(group, topdown=False):
        Path(path).rmdir()


@pytest.mark.root
def test_a_timer_of_systemd_fires_on_the_clocks_inside(run, systemd_root, cgroup, tmp_path):
    found, units = tmp_path / "found", tmp_path / "units"
    found.mkdir()
    units.mkdir()
    for name, text in UNITS.items():
        (units / name).write_text(text, encoding="ascii")
    options = [
        "--uptime", "10d", "--no-init", "--overlay", "--env", "container=timens-run",
        "--seccomp", "unconfined", "--cap-add", "ALL", "--tmpfs", "/run", "--tmpfs", "/tmp",
        "--bind", f"{cgroup}:/sys/fs/cgroup", "--bind", f"{units}:/etc/systemd/system",
        "--bind", f"{found}:/found",
    ]  # fmt: skip
    move = ["sh", "-c", f'echo $$ >{cgroup}/cgroup.procs && exec "$@"', "sh"]
    run.prefix = move
    boot = ["/lib/systemd/systemd", "--unit=clocks.target"]
    result = run(*options, systemd_root, *boot, timeout_s=60)

    assert result.returncode == 128 + 2, result.stderr  # how reboot(2) ends a PID namespace
    uptime = float((found / "uptime").read_text().split()[0])
    analyze = (found / "analyze").read_text()
    assert 10 * DAY_S + 4 <= uptime <= 10 * DAY_S + 30
    assert analyze.startswith("Startup finished in ")
    assert "day" not in analyze  # 10 days are not taken for its start
