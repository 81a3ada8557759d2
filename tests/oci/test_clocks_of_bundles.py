# SPDX-License-Identifier: LGPL-2.1-or-later
"""timeOffsets, annotations and flags: what the clocks of a bundle read."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from oci_kit import Bundle, Runtime

DAY_S = 86400
STEP_S = 0.01  # /proc/uptime counts in hundredths


def uptime_in(runtime: Runtime, *words: object) -> tuple[float, float, float]:
    """A host reading, the one inside, and another host reading."""
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    inside = float(runtime.ok(*words).split()[0])
    return before, inside, time.clock_gettime(time.CLOCK_BOOTTIME)


def check_shift(runtime: Runtime, bundle: Bundle, wanted_s: float, *flags: str) -> None:
    folder = bundle.write("cat", "/proc/uptime")
    before, inside, after = uptime_in(runtime, *flags, "run", "--bundle", folder, "box")
    assert before + wanted_s - STEP_S <= inside <= after + wanted_s


def test_time_offsets_of_the_specification(runtime: Runtime, bundle: Bundle):
    bundle.shift(5 * DAY_S, DAY_S)
    check_shift(runtime, bundle, DAY_S)


def test_a_time_namespace_without_offsets_reads_as_the_host(runtime: Runtime, bundle: Bundle):
    check_shift(runtime, bundle, 0)


@pytest.mark.parametrize(
    ("annotations", "wanted_s"),
    [
        ({"run.timens.offset": "1d"}, DAY_S),
        ({"run.timens.boottime": "+3600"}, 3600),
        ({"run.timens.monotonic": "+3600"}, 0),
        (
            {
                "run.timens.boottime": "60",
                "io.kubernetes.cri.container-name": "app",
                "run.timens.boottime/app": "120",
                "run.timens.boottime/other": "180",
            },
            120,
        ),
    ],
)
def test_annotations_ask_for_clocks_without_a_listed_namespace(
    runtime: Runtime, bundle: Bundle, annotations: dict[str, str], wanted_s: int
):
    bundle.linux["namespaces"] = [n for n in bundle.linux["namespaces"] if n["type"] != "time"]
    bundle.config["annotations"] = annotations
    check_shift(runtime, bundle, wanted_s)


def test_the_higher_rank_wins(runtime: Runtime, bundle: Bundle):
    check_shift(runtime, bundle, 60, "--boottime", "60")
    bundle.config["annotations"] = {"run.timens.boottime": "120"}
    check_shift(runtime, bundle, 120, "--boottime", "60")
    bundle.shift(0, 180)
    check_shift(runtime, bundle, 180, "--boottime", "60")


def test_uptime_is_what_the_clock_reads_when_it_starts(runtime: Runtime, bundle: Bundle):
    bundle.config["annotations"] = {"run.timens.uptime": "49d17h"}
    start = time.monotonic()
    inside = float(
        runtime.ok("run", "--bundle", bundle.write("cat", "/proc/uptime"), "x").split()[0]
    )
    wanted_s = 49 * DAY_S + 17 * 3600
    assert wanted_s <= inside <= wanted_s + (time.monotonic() - start)


def test_exec_enters_the_time_namespace(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str]
):
    bundle.shift(DAY_S, DAY_S)
    before, inside, after = uptime_in(runtime, "exec", running(), "cat", "/proc/uptime")
    assert before + DAY_S - STEP_S <= inside <= after + DAY_S


@pytest.mark.parametrize("kind", ["pid", "user", "time"])
def test_own_clocks_or_joined_ones_beside_other_joined_namespaces(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str], kind: str
):
    """crun 1.21 cannot create a time namespace while it joins a pid namespace."""
    bundle.shift(DAY_S, DAY_S)
    if kind == "user":
        bundle.linux["namespaces"].append({"type": "user"})
        ids = [{"containerID": 0, "hostID": 0, "size": 65536}]
        bundle.linux.update(uidMappings=ids, gidMappings=ids)
    pid = runtime.state(running())["pid"]
    for namespace in bundle.linux["namespaces"]:
        if namespace["type"] == kind:
            namespace["path"] = f"/proc/{pid}/ns/{kind}"
    bundle.linux.pop("uidMappings", None)
    bundle.linux.pop("gidMappings", None)
    wanted_s = 2 * DAY_S
    bundle.shift(0, wanted_s)
    if kind == "time":
        del bundle.linux["timeOffsets"]
        wanted_s = DAY_S
    folder = bundle.write("cat", "/proc/uptime")
    before, inside, after = uptime_in(runtime, "run", "--bundle", folder, "second")
    assert before + wanted_s - STEP_S <= inside <= after + wanted_s


KINDS = ("pid", "time", "user")


@pytest.mark.parametrize(
    "joined", [k for n in range(4) for k in itertools.combinations(KINDS, n)], ids="+".join
)
@pytest.mark.parametrize("created", [(), ("user",)], ids=["", "new user"])
def test_namespaces_are_joined_in_every_combination(
    runtime: Runtime,
    bundle: Bundle,
    running: Callable[[], str],
    joined: tuple[str, ...],
    created: tuple[str, ...],
):
    """A container of the second kind beside one with all kinds of its own."""
    ids = [{"containerID": 0, "hostID": 100_000, "size": 65536}]
    bundle.shift(DAY_S, DAY_S)
    bundle.linux["namespaces"].append({"type": "user"})
    bundle.linux.update(uidMappings=ids, gidMappings=ids)
    pid = runtime.state(running())["pid"]
    if "user" in joined or not created:
        bundle.linux["namespaces"].pop()
        del bundle.linux["uidMappings"], bundle.linux["gidMappings"]
    if "user" in joined:
        bundle.linux["namespaces"].append({"type": "user"})
    for namespace in bundle.linux["namespaces"]:
        if namespace["type"] in joined:
            namespace["path"] = f"/proc/{pid}/ns/{namespace['type']}"
    bundle.shift(0, 2 * DAY_S)
    if "time" in joined:
        del bundle.linux["timeOffsets"]
    wanted_s = DAY_S if "time" in joined else 2 * DAY_S
    script = "cat /proc/uptime; " + "; ".join(f"readlink /proc/self/ns/{k}" for k in KINDS)
    folder = bundle.write("sh", "-c", script)
    inodes = {k: str(Path(f"/proc/{pid}/ns/{k}").readlink()) for k in KINDS}
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    uptime, *links = runtime.ok("run", "--bundle", folder, "second").splitlines()
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before + wanted_s - STEP_S <= float(uptime.split()[0]) <= after + wanted_s
    same = {k for k, link in zip(KINDS, links, strict=True) if link == inodes[k]}
    assert same == set(joined)


def test_a_time_namespace_is_joined_from_a_new_user_namespace(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str]
):
    bundle.shift(DAY_S, DAY_S)
    pid = runtime.state(running())["pid"]
    del bundle.linux["timeOffsets"]
    for namespace in bundle.linux["namespaces"]:
        if namespace["type"] == "time":
            namespace["path"] = f"/proc/{pid}/ns/time"
    bundle.linux["namespaces"].append({"type": "user"})
    ids = [{"containerID": 0, "hostID": 0, "size": 65536}]
    bundle.linux.update(uidMappings=ids, gidMappings=ids)
    folder = bundle.write("cat", "/proc/uptime")
    before, inside, after = uptime_in(runtime, "run", "--bundle", folder, "second")
    assert before + DAY_S - STEP_S <= inside <= after + DAY_S


def without_time(bundle: Bundle) -> None:
    bundle.linux["namespaces"] = [n for n in bundle.linux["namespaces"] if n["type"] != "time"]
    bundle.shift(1, 1)


def unknown_clock(bundle: Bundle) -> None:
    bundle.linux["timeOffsets"] = {"realtime": {"secs": 1}}


def too_many_ns(bundle: Bundle) -> None:
    bundle.linux["timeOffsets"] = {"boottime": {"nanosecs": 1_000_000_000}}


def path_and_offsets(bundle: Bundle) -> None:
    bundle.shift(1, 1)
    for namespace in bundle.linux["namespaces"]:
        if namespace["type"] == "time":
            namespace["path"] = "/proc/1/ns/time"


def contradiction(bundle: Bundle) -> None:
    bundle.config["annotations"] = {"run.timens.offset": "1", "run.timens.boottime": "2"}


def unknown_annotation(bundle: Bundle) -> None:
    bundle.config["annotations"] = {"run.timens.realtime": "1"}


def no_duration(bundle: Bundle) -> None:
    bundle.config["annotations"] = {"run.timens.offset": "5M"}


def below_zero(bundle: Bundle) -> None:
    bundle.shift(0, -1_000_000_000)


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (without_time, "timeOffsets without a time namespace"),
        (unknown_clock, "'linux.timeOffsets.realtime': only monotonic and boottime have offsets"),
        (too_many_ns, "'nanosecs' is 1000000000, but must be 0 to 999999999"),
        (path_and_offsets, "timeOffsets and a path for the time namespace"),
        (contradiction, "contradicts another value for the boottime clock at its rank"),
        (unknown_annotation, "annotation 'run.timens.realtime' is not supported"),
        (no_duration, "run.timens.offset: "),
        (below_zero, "time namespace: "),
    ],
)
def test_impossible_clocks_are_refused_and_nothing_is_left(
    runtime: Runtime, bundle: Bundle, spoil: Callable[[Bundle], None], text: str
):
    spoil(bundle)
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert text in done.stderr
