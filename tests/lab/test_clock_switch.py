# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clock source is put back however the tool that switched it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from timens_analysis.errors import UserError
from timens_analysis.lab import clock_switch

from .conftest import Lab

PROJECT = Path(__file__).parents[2]
SYSFS = Path("/sys/devices/system/clocksource/clocksource0")
RESTORED_WITHIN_S = 10.0
SCRIPT = """
import sys, time
from pathlib import Path
from timens_analysis.lab.clock_switch import switching
with switching(Path(sys.argv[1])) as choose:
    choose(sys.argv[2])
    print("switched", flush=True)
    time.sleep(60)
"""


def current(folder: Path) -> str:
    return (folder / "current_clocksource").read_text().strip()


@pytest.fixture(params=["a folder like sysfs", "sysfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str, str]]:
    """(folder, the source before, another one); the host's own only where CLOCKSOURCE=1 allows."""
    if request.param == "sysfs":
        if os.environ.get("CLOCKSOURCE") != "1":
            pytest.skip("the host's clock source is switched only with CLOCKSOURCE=1")
        others = set((SYSFS / "available_clocksource").read_text().split()) - {current(SYSFS)}
        if not others:
            pytest.skip("this kernel offers one clock source only")
        yield SYSFS, current(SYSFS), min(others)
        return
    (tmp_path / "current_clocksource").write_text("tsc\n")
    yield tmp_path, "tsc", "kvm-clock"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_to_the_whole_group_does_not_keep_the_source_switched(
    place: tuple[Path, str, str], number: signal.Signals
) -> None:
    folder, before, other = place
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, folder, other],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "analysis")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        # Who starts tests in the background of a shell makes them deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as tool:
        try:
            assert tool.stdout is not None
            assert tool.stdout.readline() == "switched\n"
            assert current(folder) == other
            os.killpg(tool.pid, number)
            tool.wait(timeout=RESTORED_WITHIN_S)
        finally:
            tool.kill()

    deadline = time.monotonic() + RESTORED_WITHIN_S
    while current(folder) != before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert current(folder) == before


def fail_while_switched(folder: Path) -> None:
    with clock_switch.switching(folder) as choose:
        choose("hpet")
        assert current(folder) == "hpet"
        raise RuntimeError("in between")


def test_an_error_inside_puts_the_source_back_and_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "current_clocksource").write_text("tsc\n")

    with pytest.raises(RuntimeError, match="in between"):
        fail_while_switched(tmp_path)

    assert current(tmp_path) == "tsc"


def test_a_source_that_the_kernel_ignores_is_an_error(tmp_path: Path) -> None:
    """write(2) succeeds and nothing changes: /dev/null is like that too."""
    (tmp_path / "current_clocksource").symlink_to("/dev/null")

    with pytest.raises(UserError, match="clock source hpet: the kernel stays with"):
        clock_switch.choose("hpet", tmp_path)


def take_away_while_switched(file: Path) -> None:
    with clock_switch.switching(file.parent):
        file.unlink()
        file.symlink_to("/dev/null")


def test_a_source_that_cannot_be_put_back_is_told(tmp_path: Path) -> None:
    file = tmp_path / "current_clocksource"
    file.write_text("tsc\n")

    with pytest.raises(UserError) as caught:
        take_away_while_switched(file)

    assert str(caught.value) == "lab: clock source tsc: could not be put back; it is "
    assert caught.value.hint == f"echo tsc > {file}"


def test_without_the_flag_nothing_is_switched(lab: Lab) -> None:
    done = lab("clocksource")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "timens-study: lab: clocksource: switches the clock of the whole host, and was not allowed"
        " to\nhint: timens-study lab clocksource --switch-clock-source\n"
    )


@pytest.mark.parametrize(
    ("option", "name"),
    [("--uts", "uts"), ("--ipc", "ipc"), ("--cgroup", "cgroup"), ("--time", "time")],
)
def test_inside_a_container_it_is_refused(lab: Lab, option: str, name: str) -> None:
    prefix = ("unshare", option, "--fork")
    done = lab("clocksource", "--switch-clock-source", "--quiet", prefix=prefix)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "timens-study: lab: clocksource: refused inside a container"
        f" (a {name} namespace of its own)\nhint: the clock source is the whole host's: run it"
        " there\n"
    )


def test_only_root_may_switch_it(lab: Lab) -> None:
    prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
    done = lab("clocksource", "--switch-clock-source", "--quiet", prefix=prefix, cwd="/")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "timens-study: lab: clocksource: only root may switch it\nhint: run it with sudo\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may switch the clock source")
def test_without_a_place_for_results_nothing_is_switched(lab: Lab) -> None:
    done = lab("clocksource", "--switch-clock-source", "--quiet", "--output", "/dev/null/x")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "timens-study: lab: /dev/null/x: Not a directory\n"


@pytest.mark.skipif(
    os.environ.get("CLOCKSOURCE") != "1",
    reason="the host's clock source is switched only with CLOCKSOURCE=1",
)
def test_every_source_is_measured_and_the_first_is_back(lab: Lab, tmp_path: Path) -> None:
    before = current(SYSFS)
    output = tmp_path / "results"

    done = lab("clocksource", "--switch-clock-source", "--quick", "--quiet", "--output", output)

    assert done.returncode == 0, done.stderr
    assert current(SYSFS) == before
    assert "this switches the clock of the WHOLE HOST" in done.stderr
    for name in (SYSFS / "available_clocksource").read_text().split():
        assert f"with `{name}`" in done.stdout
        assert (output / f"clocksource-{name}" / "records.jsonl").exists()
