# SPDX-License-Identifier: LGPL-2.1-or-later
"""patch-config and timens-hook write clocks into config.json, for runtimes that take no wishes."""

import json
import os
import pty
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oci_kit import PROGRAM, Bundle, Runtime

HOOK = PROGRAM.with_name("timens-hook")
DAY_S = 86400
NS = 1_000_000_000
TIME = {"type": "time"}
Config = dict[str, Any]


def patched(text: str, *flags: str, program: Path = HOOK) -> subprocess.CompletedProcess[str]:
    words = [*flags] if program == HOOK else [*flags, "patch-config"]
    return subprocess.run([program, *words], input=text, capture_output=True, text=True, timeout=20)


def ok(text: str, *flags: str, program: Path = HOOK) -> str:
    done = patched(text, *flags, program=program)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def config(**members: object) -> Config:
    return {"ociVersion": "1.2.0", "linux": {"namespaces": [{"type": "pid"}]}, **members}


def asking(value: str = "0") -> Config:
    return config(annotations={"run.timens.uptime": value})


def offset_ns(clock: dict[str, int]) -> int:
    return clock["secs"] * NS + clock["nanosecs"]


@pytest.mark.parametrize("program", [HOOK, PROGRAM])
def test_an_uptime_becomes_offsets_between_two_host_readings(program: Path):
    clocks = {"monotonic": time.CLOCK_MONOTONIC, "boottime": time.CLOCK_BOOTTIME}
    before = {name: time.clock_gettime_ns(clock) for name, clock in clocks.items()}
    made = json.loads(ok(json.dumps(asking("1d")), program=program))
    after = {name: time.clock_gettime_ns(clock) for name, clock in clocks.items()}

    assert made["linux"]["namespaces"] == [{"type": "pid"}, TIME]
    offsets = made["linux"]["timeOffsets"]
    assert list(offsets) == ["monotonic", "boottime"]
    for name, offset in offsets.items():
        assert before[name] <= DAY_S * NS - offset_ns(offset) <= after[name]


def test_a_runtime_that_reads_time_offsets_alone_sets_the_clocks(runtime: Runtime, bundle: Bundle):
    """The annotation is taken out between the two: it cannot be what moves the clock."""
    bundle.config["annotations"] = {"run.timens.boottime": "1d"}
    bundle.linux["namespaces"].remove(TIME)
    bundle.config = json.loads(ok(json.dumps(bundle.config)))
    del bundle.config["annotations"]
    folder = bundle.write("cat", "/proc/uptime")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    inside = float(runtime.ok("run", "--bundle", folder, "box").split()[0])
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before + DAY_S - 0.01 <= inside <= after + DAY_S


LAYOUTS = [
    '{"ociVersion":"1.0","x":[18446744073709551615,0.1000000000000000055,"\\u0041\\\\\\"{["]%s}',
    '{\n\t"ociVersion" : "1.0",\n\t"deep": {"linux": {"a": [[], {}]}}%s\n}\n',
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "linux",
    [
        '"linux": {"namespaces": [%s], "last": null}',
        '"linux": {\n  "namespaces": [\n   {"type":"pid"}%s\n  ]\n }',
    ],
)
def test_what_is_not_about_clocks_stays_byte_for_byte(layout: str, linux: str):
    text = layout % (', "annotations": {"run.timens.boottime": "60"}, ' + linux % "")
    made = ok(text)
    for added in (
        r'"timeOffsets": {"boottime": {"secs": 60, "nanosecs": 0}}',
        r'{"type": "time"}',
    ):
        made, count = re.subn(r"(,\s*)?" + re.escape(added), "", made)
        assert count == 1
    assert made == text


@pytest.mark.parametrize("linux", ["absent", None, {}, {"namespaces": None}, {"namespaces": []}])
def test_what_the_clocks_need_is_made_where_it_is_missing(linux: object):
    wishes = asking()
    wishes["linux"] = linux
    if linux == "absent":
        del wishes["linux"]
    made = json.loads(ok(json.dumps(wishes)))
    assert made["linux"]["namespaces"] == [TIME]
    assert set(made["linux"]["timeOffsets"]) == {"monotonic", "boottime"}


@pytest.mark.parametrize(
    "text",
    [
        '{"ociVersion": "1.2.0"}',
        ' {"ociVersion":"1.2.0","annotations":{"org.example":"x"},"linux":null }\n\n',
        '{"ociVersion":"1.2.0","linux":{"namespaces":[{"type":"time"}],"timeOffsets":{}}}',
        '{"ociVersion":"1.2.0","linux":{"namespaces":[{"type":"time","path":"/proc/1/ns/time"}]}}',
    ],
)
def test_nothing_changes_where_no_clocks_are_asked_for(text: str):
    assert ok(text) == text


def test_explicit_offsets_stay_and_annotations_fill_the_other_clock():
    wishes = config(annotations={"run.timens.offset": "60"})
    explicit = {"boottime": {"secs": 5, "nanosecs": 7}}
    wishes["linux"] = {"namespaces": [TIME], "timeOffsets": explicit}
    made = json.loads(ok(json.dumps(wishes)))
    assert made["linux"] == {
        "namespaces": [TIME],
        "timeOffsets": {**explicit, "monotonic": {"secs": 60, "nanosecs": 0}},
    }
    assert ok(json.dumps(made)) == json.dumps(made)  # a second hook finds nothing to do


@pytest.mark.parametrize(
    ("annotations", "wanted_s"),
    [
        ({}, 1),
        ({"run.timens.boottime": "2"}, 2),
        (
            {
                "run.timens.boottime": "2",
                "run.timens.boottime/app": "-3.5",
                "run.timens.boottime/other": "4",
                "io.kubernetes.cri.container-name": "app",
            },
            -3.5,
        ),
    ],
)
@pytest.mark.parametrize("program", [HOOK, PROGRAM])
def test_ranks_are_those_of_create(annotations: dict[str, str], wanted_s: float, program: Path):
    text = json.dumps(config(annotations=annotations))
    made = json.loads(ok(text, "--boottime", "1", program=program))
    assert list(made["linux"]["timeOffsets"]) == ["boottime"]
    assert offset_ns(made["linux"]["timeOffsets"]["boottime"]) == wanted_s * NS


def test_a_bundle_is_patched_in_place_and_keeps_owner_and_mode(runtime: Runtime, tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(asking()))
    file.chmod(0o640)
    os.chown(file, 1234, 5678)
    assert runtime.ok("patch-config", "--bundle", tmp_path) == ""
    made = json.loads(file.read_text())
    assert TIME in made["linux"]["namespaces"]
    assert (file.stat().st_mode & 0o7777, file.stat().st_uid, file.stat().st_gid) == (
        0o640,
        1234,
        5678,
    )
    assert [p.name for p in tmp_path.iterdir()] == ["config.json"]


def unknown_annotation(c: Config) -> None:
    c["annotations"]["run.timens.realtime"] = "1"


def no_duration(c: Config) -> None:
    c["annotations"]["run.timens.uptime"] = ""


def joined(c: Config) -> None:
    c["linux"]["namespaces"].append({"type": "time", "path": "/proc/1/ns/time"})


def offsets_alone(c: Config) -> None:
    c["linux"]["timeOffsets"] = {"boottime": {"secs": 1}}


def below_zero(c: Config) -> None:
    c["annotations"] = {"run.timens.boottime": "-1000000000"}


def no_version(c: Config) -> None:
    del c["ociVersion"]


def wrong_type(c: Config) -> None:
    c["linux"]["namespaces"] = {}


REFUSALS = [
    (unknown_annotation, "annotation 'run.timens.realtime' is not supported"),
    (no_duration, "run.timens.uptime: "),
    (joined, "the time namespace is joined by path and has clocks already"),
    (offsets_alone, "timeOffsets without a time namespace"),
    (below_zero, "boottime -1000000000 would start the clock below zero"),
    (no_version, "has no 'ociVersion': it is no config.json"),
    (wrong_type, "'namespaces' must be an array"),
]


@pytest.mark.parametrize(("spoil", "reason"), REFUSALS)
def test_what_cannot_be_is_refused_and_nothing_is_printed_or_touched(
    runtime: Runtime, tmp_path: Path, spoil: Callable[[Config], None], reason: str
):
    wishes = asking()
    spoil(wishes)
    text = json.dumps(wishes)
    done = patched(text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("timens-hook: ")
    assert reason in done.stderr

    (tmp_path / "config.json").write_text(text)
    before = (tmp_path / "config.json").stat()
    done = runtime("patch-config", "--bundle", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
    assert (tmp_path / "config.json").stat().st_ino == before.st_ino
    assert (tmp_path / "config.json").read_text() == text
    assert [p.name for p in tmp_path.iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "standard input, line 1: "),
        ('{"ociVersion": "1.2.0"', "standard input, line 1: "),
        ("[]", "standard input is not a JSON object"),
        ('{"ociVersion":"1","li\\u006eux":{"namespaces":[]}%s}', "duplicate object key"),
        ('{"ociVersion":"1","ociVersion":"1"}', "duplicate object key"),
    ],
)
def test_a_text_that_is_not_sound_is_refused(text: str, reason: str):
    """An escaped key cannot be edited in place; doubled keys could mean two things."""
    done = patched(text.replace("%s", ',"annotations":{"run.timens.uptime":"0"}'))
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_only_a_file_is_patched_in_place(runtime: Runtime, tmp_path: Path, kind: str):
    target, place = tmp_path / "target", tmp_path / "config.json"
    target.write_text(json.dumps(asking()))
    {
        "link": lambda: place.symlink_to(target),
        "folder": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
    }[kind]()
    done = runtime("patch-config", "--bundle", tmp_path)
    assert done.returncode == 1
    assert ("cannot open" if kind == "link" else "is no file") in done.stderr
    assert target.read_text() == json.dumps(asking())


def test_a_joined_pid_namespace_is_warned_about():
    """crun 1.21 fails with it and says "unshare: Invalid argument" (tests/engines/test_hook.py)."""
    wishes = asking()
    wishes["linux"]["namespaces"] = [{"type": "pid", "path": "/proc/1/ns/pid"}]
    done = patched(json.dumps(wishes))
    assert done.returncode == 0
    assert TIME in json.loads(done.stdout)["linux"]["namespaces"]
    assert done.stderr == (
        "timens-hook: warning: the container joins a pid namespace and gets a time namespace"
        " of its own, which crun cannot do: timens-oci can\n"
    )


@pytest.mark.parametrize("size", [0, 100_000])
def test_an_output_that_is_full_is_an_error(size: int):
    """Also where the text is longer than what standard output holds back."""
    text = json.dumps({**asking(), "more": "x" * size})
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([HOOK], input=text, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to standard output: No space left on device" in done.stderr


def test_a_terminal_as_input_is_an_error_and_no_silent_wait():
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs) as terminal:
        done = subprocess.run([HOOK], stdin=terminal, capture_output=True, text=True, timeout=10)
    assert done.returncode == 1
    assert "standard input is a terminal, not a config.json" in done.stderr
    assert "hint: give the file as input: < config.json" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--offset"], "--offset needs a value"),
        (["--seconds", "1"], "option '--seconds' is not supported"),
        (["config.json"], "a word too many: 'config.json'"),
        (["--boottime", "5M"], "--boottime: "),
    ],
)
def test_words_that_the_hook_does_not_know_are_refused(words: list[str], reason: str):
    done = patched(json.dumps(config()), *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
