# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which arms there are, and what is refused when they are not equal."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from timens_analysis.errors import UserError
from timens_analysis.study.arms import ALL_NAMESPACES, KNOWN, Places, choose
from timens_analysis.study.programs import prepare_bundle
from timens_analysis.study.proof import Seen, differences

PLACES = Places(Path("/b/timens-run"), Path("/r"), privileged=True)
HOST = Seen(
    namespaces={name: f"{name}:[1]" for name in ALL_NAMESPACES},
    timens_offsets="monotonic 0 0\nboottime 0 0\n",
    cgroup="0::/\n",
    scheduler="SCHED_FIFO 50",
    cpus=[1],
    seccomp_mode=0,
    binary_sha256="aa",
)


def moved(*names):
    """The host's namespaces, but for these."""
    return {name: f"{name}:[{2 if name in names else 1}]" for name in ALL_NAMESPACES}


GOOD = {
    "baseline": HOST,
    "timens": replace(
        HOST,
        namespaces=moved("time"),
        timens_offsets="monotonic 86400 0\nboottime 172800 0\n",
    ),
    "container": replace(
        HOST,
        namespaces=moved(*ALL_NAMESPACES),
        timens_offsets="monotonic 86400 0\nboottime 172800 0\n",
    ),
    "seccomp": replace(HOST, namespaces=moved("uts"), seccomp_mode=2),
    "container_notime": replace(HOST, namespaces=moved(*(ALL_NAMESPACES - {"time"}))),
    "container_seccomp": replace(
        HOST,
        namespaces=moved(*ALL_NAMESPACES),
        timens_offsets="monotonic 86400 0\nboottime 172800 0\n",
        seccomp_mode=2,
    ),
}


def arm(name):
    return KNOWN[name][1](name, PLACES)


@pytest.mark.parametrize("name", GOOD)
def test_an_arm_that_differs_in_its_treatment_alone_is_accepted(name):
    assert differences(arm(name), GOOD[name], HOST) == []


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("seccomp", {"seccomp_mode": 0}, "seccomp mode is 0, expected 2"),
        ("timens", {"binary_sha256": "bb"}, "binary_sha256 is bb, the baseline's is aa"),
        ("timens", {"cpus": [0, 1]}, "cpus is [0, 1], the baseline's is [1]"),
        ("timens", {"cgroup": "0::/x\n"}, r"cgroup is '0::/x\n', the baseline's is '0::/\n'"),
        ("container", {"seccomp_mode": 2}, "seccomp mode is 2, expected 0"),
        ("container_seccomp", {"seccomp_mode": 0}, "seccomp mode is 0, expected 2"),
        (
            "timens",
            {"namespaces": moved("time", "net")},
            "namespaces of its own are ['net', 'time'], expected ['time']",
        ),
        (
            "timens",
            {"timens_offsets": "monotonic 172800 0\nboottime 86400 0\n"},
            "clock offsets are ('172800.0', '86400.0'), expected ('86400.0', '172800.0')",
        ),
    ],
)
def test_any_other_difference_is_named(name, change, said):
    assert differences(arm(name), replace(GOOD[name], **change), HOST) == [said]


def test_baseline_and_its_twin_are_always_there_and_first():
    arms = choose(["container"], [], PLACES)

    assert [(a.name, a.role) for a in arms] == [
        ("baseline", "baseline"),
        ("baseline_aa", "aa"),
        ("container", "treatment"),
    ]


def test_every_arm_runs_the_file_inside_the_root_filesystem():
    for name in ("baseline", "baseline_aa", "timens", "timens_zero"):
        assert arm(name).command[-1] == "/r/usr/bin/timens-bench"
    for name in ("container", "container_notime", "container_seccomp"):
        assert arm(name).command[-2:] == ("/r", "/usr/bin/timens-bench")


def test_another_user_gets_a_user_namespace_with_the_time_namespace():
    made = KNOWN["timens"][1]("timens", replace(PLACES, privileged=False))

    assert "user,time" in made.command
    assert made.expected.namespaces == {"user", "time"}
    filtered = KNOWN["seccomp"][1]("seccomp", replace(PLACES, privileged=False))
    assert filtered.expected.namespaces == {"user"}


@pytest.mark.parametrize(
    ("names", "owns", "said"),
    [
        (["contaner"], [], "--arms: contaner: no such arm"),
        ([], ["x y=true"], "--arm: x y=true: expected NAME=COMMAND"),
        ([], ["timens=true"], "--arm: timens=true: expected NAME=COMMAND"),
        ([], ["x="], "--arm: x=: the command is empty"),
        ([], ["x=a", "x=b"], "two arms have the same name"),
    ],
)
def test_a_wrong_arm_is_named(names, owns, said):
    with pytest.raises(UserError) as caught:
        choose(names, owns, PLACES)
    assert said in str(caught.value)


def test_an_arm_of_ones_own_gets_the_path_of_the_binary():
    arms = choose([], ["nice=nice -n 5", "odd=sh -c 'exec {bench} \"$@\"' sh"], PLACES)

    assert arms[2].command == ("nice", "-n", "5", "/r/usr/bin/timens-bench")
    assert arms[3].command == ("sh", "-c", 'exec /r/usr/bin/timens-bench "$@"', "sh")


def test_crun_is_told_by_a_bundle_beside_the_root_what_to_run(tmp_path):
    places = Places(Path("/b/timens-run"), tmp_path / "root", privileged=True)
    prepare_bundle(places.bundle, places.rootfs)
    config = json.loads((tmp_path / "root-bundle/config.json").read_text())

    assert KNOWN["crun"][1]("crun", places).command[-1] == str(tmp_path / "root-bundle")
    assert config["process"]["args"] == ["/usr/bin/timens-bench", "zygote"]
    assert config["root"] == {"path": str(places.rootfs), "readonly": True}
    assert "seccomp" not in config["linux"]
