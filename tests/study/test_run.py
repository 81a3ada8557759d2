# SPDX-License-Identifier: LGPL-2.1-or-later
"""A whole run on the real kernel, with the smallest profile; and what ends one too early."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest

SCHEMAS = Path(__file__).parents[2] / "schemas"
QUICK_METRICS = "clock_getres,vdso_clock_gettime_monotonic,timer_create,timer_delete"


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def cells(folder):
    return {(r["arm"], r["block"], r["metric"]) for r in records(folder)}


def environment(folder):
    return json.loads((folder / "environment.json").read_text())


def planned_cells(folder):
    header = environment(folder)
    return {
        (arm["name"], block, metric["name"])
        for arm in header["arms"]
        for block in range(header["blocks"])
        for metric in header["metrics"]
    }


def await_records(process, folder, beyond=0):
    """Returns when a run has written more records than these."""
    path = folder / "records.jsonl"
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") > beyond:
            return
        time.sleep(0.01)
    pytest.fail(f"the run ended by itself: {process.communicate()}")


@pytest.fixture
def zygotes(rootfs):
    """Processes that run the timens-bench of this test's root filesystem, in any namespace."""
    binary = (rootfs / "usr/bin/timens-bench").stat()

    def _zygotes():
        found = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    exe = (entry / "exe").stat()
                    if (exe.st_dev, exe.st_ino) == (binary.st_dev, binary.st_ino):
                        found.add(int(entry.name))
        return found

    return _zygotes


def test_a_run_measures_every_cell_of_its_plan(smoke):
    assert cells(smoke) == planned_cells(smoke)
    assert [arm["name"] for arm in environment(smoke)["arms"]] == [
        "baseline",
        "baseline_aa",
        "timens",
        "container",
    ]
    assert len(environment(smoke)["metrics"]) >= 15


def test_the_files_are_what_the_schemas_say(smoke):
    validators = {
        name: jsonschema.Draft202012Validator(json.loads((SCHEMAS / name).read_text()))
        for name in ("environment.schema.json", "record.schema.json")
    }
    validators["environment.schema.json"].validate(environment(smoke))
    for record in records(smoke):
        validators["record.schema.json"].validate(record)


def test_the_header_proves_that_arms_differ_in_nothing_but_the_treatment(smoke):
    arms = {arm["name"]: arm for arm in environment(smoke)["arms"]}
    for same in ("binary_sha256", "cgroup", "scheduler", "cpus", "seccomp_mode"):
        assert len({json.dumps(arm[same]) for arm in arms.values()}) == 1, same
    assert arms["baseline"]["binary_sha256"] == environment(smoke)["bench_sha256"]

    host = arms["baseline"]["namespaces"]

    def own(name):
        return {n for n, link in arms[name]["namespaces"].items() if link != host[n]}

    assert own("baseline_aa") == set()
    assert own("timens") - {"user"} == {"time"}
    assert own("container") == {"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"}
    for name in ("timens", "container"):
        assert arms[name]["timens_offsets"].split() == [
            *("monotonic", "86400", "0"),
            *("boottime", "172800", "0"),
        ]


def test_every_block_asks_fresh_processes(smoke):
    """A process used twice would be seen in two blocks.  The container is left out: it counts its
    processes itself, and is a new one in every block."""
    pids = {}
    for record in records(smoke):
        if "sleep" not in record["metric"] and record["arm"] != "container":
            pids.setdefault((record["arm"], record["block"]), set()).add(record["pid"])
    assert len({frozenset(p) for p in pids.values()}) == len(pids)


def test_nothing_is_left_running(smoke, zygotes):
    del smoke
    assert zygotes() == set()


def test_the_same_seed_measures_in_the_same_order(smoke, begin, tmp_path):
    again = begin(tmp_path / "again", "--seed", "1", "--metrics", QUICK_METRICS)
    assert again.wait(60) == 0

    def order(folder):
        first = [r for r in records(folder) if r["attempt"] == 1]
        return list(
            dict.fromkeys((r["block"], r["arm"]) for r in first if "sleep" not in r["metric"])
        )

    assert order(tmp_path / "again") == order(smoke)


def test_killed_at_random_five_times_and_resumed_it_has_the_same_records(
    study, begin, go_on, tmp_path, zygotes
):
    """SIGKILL leaves no chance to tidy up: no zygote may stay, no finished record be lost."""
    folder = tmp_path / "run"
    moments = random.Random(os.getpid())
    options = ["--metrics", QUICK_METRICS, "--blocks", "150"]
    process = begin(folder, *options)
    kept = []
    for _ in range(5):
        await_records(process, folder, beyond=len(kept))
        time.sleep(moments.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        before = kept
        whole = (folder / "records.jsonl").read_text().rpartition("\n")[0]
        kept = [json.loads(line) for line in whole.splitlines()]
        assert kept[: len(before)] == before
        assert study("status", folder, "--json").returncode == 0
        process = go_on(folder)
    process.communicate()
    assert process.returncode == 0

    assert cells(folder) == planned_cells(folder)
    final = records(folder)
    assert final[: len(kept)] == kept
    assert [r["seq"] for r in final] == list(range(len(final)))
    deadline = time.monotonic() + 10
    while zygotes() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert zygotes() == set()


def test_a_block_that_was_cut_in_two_is_measured_again_as_a_whole(study, begin, tmp_path):
    folder = tmp_path / "run"
    assert begin(folder, "--metrics", QUICK_METRICS).wait(60) == 0
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    last = json.loads(lines[-1])["block"]
    path.write_text("".join(lines[:-1]) + lines[-1][:50])

    assert study("resume", folder, "--no-report").returncode == 0

    again = [r for r in records(folder) if r["block"] == last and r["attempt"] > 1]
    assert {(r["arm"], r["metric"]) for r in again} >= {
        (arm, metric)
        for arm, block, metric in planned_cells(folder)
        if block == last
        and (arm, metric) != (json.loads(lines[-1])["arm"], json.loads(lines[-1])["metric"])
    }
    assert cells(folder) == planned_cells(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_that_can_be_resumed(begin, tmp_path, zygotes, number):
    folder = tmp_path / "run"
    process = begin(folder, "--metrics", QUICK_METRICS, "--blocks", "400")
    await_records(process, folder)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)

    assert process.returncode == 128 + number
    assert said.endswith(
        f"timens-study: signal {number:d}: {folder}: stopped, its records are kept\n"
        f"hint: timens-study resume {folder}\n"
    )
    assert zygotes() == set()
    assert json.loads((folder / "sessions.jsonl").read_text().splitlines()[-1])["why"] == (
        "interrupted"
    )


def test_two_runs_do_not_share_a_folder(study, begin, tmp_path, rootfs):
    folder = tmp_path / "run"
    first = begin(folder, "--metrics", QUICK_METRICS, "--blocks", "400")
    await_records(first, folder)
    second = study("run", "--profile", "smoke", "--rootfs", rootfs, "--output", folder)
    third = study("resume", folder)
    first.kill()

    said = f"timens-study: lock: {folder}: process {first.pid} is writing here\n"
    assert (second.returncode, second.stderr.splitlines()[0] + "\n") == (1, said)
    assert (third.returncode, third.stderr.splitlines()[0] + "\n") == (1, said)


def test_a_finished_run_is_not_overwritten(study, smoke, rootfs):
    before = (smoke / "records.jsonl").read_bytes()
    done = study("run", "--profile", "smoke", "--rootfs", rootfs, "--output", smoke)

    assert done.returncode == 1
    assert done.stderr == (
        f"timens-study: results: {smoke}: there is a run in it already\n"
        f"hint: timens-study resume {smoke}, or choose another folder with --output\n"
    )
    assert (smoke / "records.jsonl").read_bytes() == before


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_loses_no_finished_record(study, begin, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", disk], check=True)
    try:
        folder = disk / "run"
        process = begin(folder, "--metrics", QUICK_METRICS, "--blocks", "40")
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1
        assert f"timens-study: records: {folder}/records.jsonl: No space left on device\n" in said
        assert f"hint: make room, then: timens-study resume {folder}\n" in said
        kept = records(folder)
        assert kept

        subprocess.run(["mount", "-o", "remount,size=10m", disk], check=True)
        assert study("resume", folder, "--no-report").returncode == 0
        assert records(folder)[: len(kept)] == kept
        assert cells(folder) == planned_cells(folder)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_arm_that_cannot_be_entered_leaves_nothing(study, tmp_path, rootfs, zygotes):
    done = study(
        *("run", "--profile", "smoke", "--rootfs", rootfs, "--output", tmp_path / "run"),
        *("--arms", "timens", "--arm", "broken=sh -c 'echo no such luck >&2; exit 3'"),
    )

    assert (done.returncode, done.stderr) == (1, "timens-study: arm: broken: no such luck\n")
    assert not (tmp_path / "run").exists()
    assert zygotes() == set()


def test_arms_that_differ_in_the_scheduler_are_refused(study, tmp_path, rootfs):
    done = study(
        *("run", "--profile", "smoke", "--rootfs", rootfs, "--output", tmp_path / "run"),
        *("--no-fifo", "--arms", "timens", "--arm", "batch=chrt --batch 0"),
    )

    assert done.returncode == 1
    assert done.stderr.startswith(
        "timens-study: proof: arm batch: scheduler is SCHED_BATCH, the baseline's is SCHED_OTHER\n"
    )


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_an_unprivileged_user_gets_a_study_and_the_reason_for_no_fifo(study, nobody_folder):
    folder = nobody_folder / "run"
    done = study(
        *("run", "--profile", "smoke", "--no-report", "--metrics", QUICK_METRICS),
        *("--output", folder),
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
        env={**os.environ, "HOME": str(nobody_folder), "XDG_CACHE_HOME": str(nobody_folder)},
    )

    assert done.returncode == 0, done.stderr
    made = nobody_folder / "timens-run/rootfs-busybox"  # one id cannot own what Debian holds
    assert f"making a root filesystem in {made} (busybox; kept for the next study)" in done.stderr
    assert "SCHED_OTHER (not allowed: Operation not permitted)" in done.stderr
    assert cells(folder) == planned_cells(folder)
    arms = {arm["name"]: arm for arm in environment(folder)["arms"]}
    host = arms["baseline"]["namespaces"]
    own = {n for n, link in arms["timens"]["namespaces"].items() if link != host[n]}
    assert own == {"user", "time"}  # without a user namespace it may have no other
    assert environment(folder)["host"]["uid"] == 65534
