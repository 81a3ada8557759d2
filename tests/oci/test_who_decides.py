# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who starts a container decides on its clocks, not its image or its root (SECURITY.md)."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from oci_kit import PROGRAM, Bundle, Runtime

HOOK = PROGRAM.with_name("timens-hook")
DAY_S = 86400
STEP_S = 0.01  # /proc/uptime counts in hundredths
WISHES = ["run.timens.uptime=0", "RUN_TIMENS_UPTIME=0", "TIMENS_UPTIME=0"]


def test_the_environment_of_the_program_has_no_say(runtime: Runtime, bundle: Bundle):
    """An image writes its own environment."""
    bundle.config["process"]["env"] += WISHES
    bundle.config["labels"] = {"run.timens.uptime": "0"}
    folder = bundle.write("sh", "-c", "env | grep -c UPTIME; cat /proc/uptime")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    count, uptime = runtime.ok("run", "--bundle", folder, "box").splitlines()
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert count == "2"
    assert before - STEP_S <= float(uptime.split()[0]) <= after


@pytest.mark.parametrize("program", [[HOOK], [PROGRAM, "patch-config"], [PROGRAM, "features"]])
def test_the_environment_of_the_runtime_has_no_say(program: list[Path | str]):
    text = json.dumps({"ociVersion": "1.2.0", "process": {"env": WISHES}})
    wishes = dict.fromkeys((w.split("=")[0] for w in WISHES), "0")
    plain, wishing = (
        subprocess.run(program, input=text, env=env, capture_output=True, text=True, check=True)
        for env in ({}, wishes)
    )
    assert wishing.stdout == plain.stdout
    assert "timeOffsets" not in wishing.stdout


def test_root_inside_cannot_move_the_clocks_it_has(runtime: Runtime, bundle: Bundle):
    """Even with the capabilities for it: offsets are frozen once a process lives with them."""
    bundle.shift(DAY_S, DAY_S)
    for names in bundle.config["process"]["capabilities"].values():
        names += ["CAP_SYS_TIME", "CAP_SYS_ADMIN"]
    bundle.linux["readonlyPaths"] = []
    script = 'echo "boottime 5 0" >/proc/self/timens_offsets || cat /proc/self/timens_offsets'
    done = runtime("run", "--bundle", bundle.write("sh", "-c", script), "box")
    assert "Permission denied" in done.stderr
    assert done.stdout.split() == ["monotonic", str(DAY_S), "0", "boottime", str(DAY_S), "0"]


def test_root_inside_cannot_set_the_clock_of_the_host(runtime: Runtime, bundle: Bundle):
    """With the capabilities that engines give; what is refused is the second that it is anyway."""
    folder = bundle.write("sh", "-c", "date -s @$(date +%s)")
    done = runtime("run", "--bundle", folder, "box")
    assert "can't set date: Operation not permitted" in done.stderr


def test_the_hook_opens_nothing_but_the_offsets_of_the_kernel(tmp_path: Path):
    """It runs as root for images of others: it must not be led anywhere."""
    trace = tmp_path / "trace"
    wishes = {"ociVersion": "1.2.0", "annotations": {"run.timens.uptime": "0"}}
    calls = "open,openat,openat2,creat,execve,connect,rename,unlink,mount,clone,clone3"
    subprocess.run(
        ["strace", "-f", "-o", trace, "-e", f"trace={calls}", HOOK],
        input=json.dumps(wishes),
        stdout=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    start, *rest, end = trace.read_text().splitlines()
    assert "execve(" in start
    assert "exited with 0" in end
    opened = [line.split('"')[1] for line in rest]
    assert opened == ["/dev/urandom", "/proc/self/timens_offsets"]  # for hash tables, for offsets
    assert all("O_RDONLY" in line for line in rest)


def test_a_configuration_without_end_is_refused():
    with Path("/dev/zero").open() as endless:
        done = subprocess.run(
            [HOOK], stdin=endless, capture_output=True, text=True, timeout=20, check=False
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert "standard input has 8388608 bytes or more: File too large" in done.stderr
