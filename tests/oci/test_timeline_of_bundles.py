# SPDX-License-Identifier: LGPL-2.1-or-later
"""run.timens.timeline: a service that engines restart goes on where it was."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oci_kit import Bundle, Runtime

KEY = "run.timens.timeline"
CLOCKS = Path(__file__).parents[2] / "build/bin/timens-clocks"
DAY_S = 86400
WITHIN_S, LEASE_S = 5.0, 19


@pytest.fixture
def timelines(runtime: Runtime, tmp_path: Path) -> Path:
    runtime.options = ["--timelines", str(tmp_path / "timelines")]
    return tmp_path / "timelines"


def keepers(timelines: Path) -> set[int]:
    """Processes that keep timelines in this folder, which they have open."""
    found = set()
    for name in Path("/proc").glob("[0-9]*/comm"):
        try:
            if name.read_text() in ("timens-keeper\n", "timens-guard\n"):
                fds = [str(fd.readlink()) for fd in (name.parent / "fd").iterdir()]
                found |= {int(name.parent.name)} if str(timelines) in fds else set()
        except OSError:
            continue
    return found


def wait_for(condition: Callable[[], bool], within_s: float = WITHIN_S) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def uptime(runtime: Runtime, bundle: Bundle, **annotations: str) -> float:
    if annotations:
        bundle.config["annotations"] = {f"run.timens.{k}": v for k, v in annotations.items()}
    folder = bundle.write("cat", "/proc/uptime")
    return float(runtime.ok("run", "--bundle", folder, "box").split()[0])


def shown(path: Path) -> dict[str, Any]:
    out = subprocess.run(
        [CLOCKS, "timeline", "--json", path], capture_output=True, text=True, check=True
    )
    return json.loads(out.stdout)


def test_a_container_that_is_made_again_goes_on_where_it_was(
    runtime: Runtime, bundle: Bundle, timelines: Path
):
    start = time.monotonic()
    first = uptime(runtime, bundle, timeline="db", uptime="49d")
    assert 49 * DAY_S <= first <= 49 * DAY_S + time.monotonic() - start
    second = uptime(runtime, bundle)  # uptime says only where a new one begins
    assert first <= second <= first + time.monotonic() - start
    assert sorted(p.name for p in timelines.iterdir()) == ["db"]


def test_it_goes_on_after_a_kill_as_well(runtime: Runtime, bundle: Bundle, timelines: Path):
    bundle.config["annotations"] = {KEY: "db", "run.timens.uptime": "1d"}
    runtime.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
    runtime.ok("start", "box")
    inside = float(runtime.ok("exec", "box", "cat", "/proc/uptime").split()[0])
    runtime.ok("delete", "--force", "box")
    wait_for(lambda: (timelines / "db").read_text().count("stopped") == 1)
    assert inside <= uptime(runtime, bundle) <= inside + 2 * WITHIN_S


def test_a_running_container_has_reserved_time_and_its_keepers_end_with_it(
    runtime: Runtime, bundle: Bundle, timelines: Path
):
    bundle.config["annotations"] = {KEY: "db"}
    runtime.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
    wait_for(lambda: len(keepers(timelines)) == 2)  # create does not wait until they run
    for keeper in keepers(timelines):  # nothing of the caller's is held open
        fds = {str(fd.readlink()) for fd in Path(f"/proc/{keeper}/fd").iterdir()}
        assert not [f for f in fds if "pipe:" in f or "socket:" in f or "/state" in f]
    runtime.ok("start", "box")
    done = runtime("create", "--bundle", bundle.write(), "second")
    assert done.returncode == 1
    assert f"timeline: {timelines}/db is in use by another run" in done.stderr
    runtime.ok("delete", "--force", "box")
    wait_for(lambda: not keepers(timelines))


def test_a_container_whose_timeline_nobody_keeps_is_ended(
    runtime: Runtime, bundle: Bundle, timelines: Path
):
    """By the guard, when the 19 s are over that the keeper had reserved at last."""
    bundle.config["annotations"] = {KEY: "db"}
    runtime.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
    runtime.ok("start", "box")
    wait_for(lambda: len(keepers(timelines)) == 2)
    names = {Path(f"/proc/{p}/comm").read_text().strip(): p for p in keepers(timelines)}
    os.kill(names["timens-guard"], signal.SIGKILL)
    wait_for(lambda: len(keepers(timelines) - set(names.values())) == 1)  # a new guard
    os.kill(names["timens-keeper"], signal.SIGKILL)
    assert runtime.state("box")["status"] == "running"
    wait_for(lambda: runtime.state("box")["status"] == "stopped", LEASE_S + WITHIN_S)
    wait_for(lambda: not keepers(timelines))
    runtime.ok("delete", "box")
    assert shown(timelines / "db")["state"] == "running"  # the last entry was never written


@pytest.mark.parametrize(
    ("annotations", "flags", "name"),
    [
        ({}, ["--timeline", "flag"], "flag"),
        ({KEY: "pod"}, ["--timeline", "flag"], "pod"),
        ({KEY: "pod", f"{KEY}/app": "one", f"{KEY}/other": "two"}, [], "one"),
        ({KEY: "pod", "io.kubernetes.cri.container-type": "sandbox"}, [], None),
    ],
)
def test_the_higher_rank_names_the_timeline(
    runtime: Runtime,
    bundle: Bundle,
    timelines: Path,
    annotations: dict[str, str],
    flags: list[str],
    name: str | None,
):
    bundle.config["annotations"] = {"io.kubernetes.cri.container-name": "app", **annotations}
    runtime.ok(*flags, "run", "--bundle", bundle.write("true"), "box")
    made = [p.name for p in timelines.iterdir()] if timelines.exists() else []
    assert made == ([name] if name else [])


def test_in_the_mode_wall_time_passes_between_two_runs(
    runtime: Runtime, bundle: Bundle, timelines: Path
):
    annotations = {"timeline": "db", "timeline-mode": "wall"}
    bundle.config["annotations"] = {f"run.timens.{k}": v for k, v in annotations.items()}
    first = uptime(runtime, bundle)
    wait_for(lambda: "stopped" in (timelines / "db").read_text())
    time.sleep(0.5)
    assert uptime(runtime, bundle) >= first + 0.5


def join_time(bundle: Bundle) -> None:
    for namespace in bundle.linux["namespaces"]:
        if namespace["type"] == "time":
            namespace["path"] = "/proc/1/ns/time"


def share_pid(bundle: Bundle) -> None:
    bundle.linux["namespaces"] = [n for n in bundle.linux["namespaces"] if n["type"] != "pid"]


def nothing(bundle: Bundle) -> None:
    pass


@pytest.mark.parametrize(
    ("annotations", "spoil", "text"),
    [
        ({KEY: "../../etc/passwd"}, nothing, f"{KEY}: '../../etc/passwd' is not a key of letters"),
        ({KEY: ".hidden"}, nothing, "is not a key of letters"),
        ({KEY: "db.new"}, nothing, "is not a key of letters"),
        ({KEY: ""}, nothing, "is not a key of letters"),
        (
            {KEY: "db", f"{KEY}-mode": "fast"},
            nothing,
            f"{KEY}-mode: 'fast' is neither pause nor wall",
        ),
        ({f"{KEY}-mode": "wall"}, nothing, "a timeline-mode without a timeline"),
        ({KEY: "db"}, join_time, "the time namespace is joined by path and has clocks already"),
        ({KEY: "db"}, share_pid, "a timeline needs a new pid namespace"),
    ],
)
def test_a_timeline_that_cannot_be_is_refused(
    runtime: Runtime,
    bundle: Bundle,
    timelines: Path,
    annotations: dict[str, str],
    spoil: Callable[[Bundle], None],
    text: str,
):
    bundle.config["annotations"] = annotations
    spoil(bundle)
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert text in done.stderr
    assert not timelines.exists()


def test_a_damaged_timeline_is_refused_and_kept(runtime: Runtime, bundle: Bundle, timelines: Path):
    timelines.mkdir()
    (timelines / "db").write_text("what?")
    bundle.config["annotations"] = {KEY: "db"}
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert "timeline: " in done.stderr
    assert (timelines / "db").read_text() == "what?"
    assert runtime.ids() == []


def test_a_configuration_for_another_runtime_cannot_have_a_timeline(
    runtime: Runtime, bundle: Bundle
):
    bundle.config["annotations"] = {KEY: "db"}
    done = runtime("patch-config", "--bundle", bundle.write("true"))
    assert done.returncode == 1
    assert "only timens-oci itself as the runtime keeps timelines" in done.stderr
