# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-bench on arm64: cross-compiled and emulated, for what it does and not how fast."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import jsonschema
import pytest

from .conftest import STUDY, TOP

# The emulator knows 32 POSIX timers, and emulates no sleep that is worth waiting for.
FEW = [
    "--batch",
    "timer_create=20",
    "--calls",
    "nanosleep=1,clock_nanosleep=1,clock_nanosleep_abs=1",
]


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs timens-bench for arm64 here."""
    program = tmp_path_factory.mktemp("arm64") / "timens-bench"
    sources = [*TOP.glob("bench/*.c"), *TOP.glob("bench/lab/*.c"), TOP / "bench/loops_aarch64.S"]
    compiler = "aarch64-linux-gnu-gcc -static -O1 -std=gnu17 -Wall -Wextra -Werror -D_GNU_SOURCE"
    more = ['-DVERSION="arm64"', f"-I{TOP}/bench", "-o", str(program)]
    subprocess.run([*compiler.split(), *more, *map(str, sources)], check=True)
    return ["qemu-aarch64", str(program)]


def run(command: list[str], *args: str) -> str:
    result = subprocess.run(
        [*command, *args], capture_output=True, text=True, timeout=60, check=True
    )
    return result.stdout


@pytest.fixture(scope="module")
def records(emulated: list[str]) -> list[dict[str, Any]]:
    lines = run(emulated, "measure", "--json", "--metrics", "all", *FEW).splitlines()
    return [json.loads(line) for line in lines]


def test_every_metric_that_the_emulator_has_gives_a_valid_record(
    emulated: list[str],
    records: list[dict[str, Any]],
    validator: jsonschema.Draft202012Validator,
) -> None:
    listed = json.loads(run(emulated, "list", "--json"))

    for record in records:
        validator.validate(STUDY | record)
        assert sum(record["batch_ticks"]) == record["total_ticks"]
    assert {r["metric"] for r in records} == {m["name"] for m in listed if m["available"]}
    assert {r["route"] for r in records} >= {"raw", "libc"}


def test_time_is_counted_by_the_processors_own_counter(
    emulated: list[str], records: list[dict[str, Any]]
) -> None:
    calibration = json.loads(run(emulated, "calibrate"))
    [sleep] = [r for r in records if r["metric"] == "clock_nanosleep"]

    assert calibration["clock_source_of_ticks"] == "cntvct"
    # To a thousandth: the emulated counter has steps of 16 ns, and half a second to calibrate.
    elapsed_ns = sleep["total_ticks"] * calibration["ns_per_tick"]
    assert elapsed_ns >= sleep["requested_ns"] * 0.999


def test_the_counter_of_another_processor_is_refused(emulated: list[str]) -> None:
    result = subprocess.run(
        [*emulated, "measure", "--ticks", "rdtscp"], capture_output=True, text=True, check=False
    )

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "timens-bench: --ticks: rdtscp does not work here\n"
