# SPDX-License-Identifier: LGPL-2.1-or-later
"""A service's own time over stops, crashes and refusals, on the real kernel.

That no clock goes back over any number of hosts, reboots and changed dates is shown on the pure
state machine, tests/unit/test_timeline.c.
"""

import contextlib
import os
import random
import select
import signal
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from kit import PROGRAM

RESERVE_S = 20
NS = 1_000_000_000
READ_ONCE = "import time; print(time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME))"
READ_ON = "import time\nwhile True: print(time.monotonic_ns(), flush=True); time.sleep(0.005)"


@pytest.fixture(scope="module", autouse=True)
def stopped_launcher(host_rootfs, tmp_path_factory):
    """A launcher that is stopped at the first test here, for the last one: it takes 20 s."""
    folder = tmp_path_factory.mktemp("stopped")
    readings, timeline = folder / "readings", folder / "t"
    with readings.open("w", encoding="ascii") as out:
        command = [PROGRAM, "--timeline", timeline, *host_rootfs, "python3", "-c", READ_ON]
        launcher = subprocess.Popen(command, stdout=out)
    while not readings.read_text(encoding="ascii"):
        time.sleep(0.01)
    (init,) = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    init_fd = os.pidfd_open(int(init))
    launcher.send_signal(signal.SIGSTOP)
    yield launcher, init_fd, timeline, readings
    os.close(init_fd)
    launcher.kill()
    launcher.wait()


def fields(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="ascii").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def ns(seconds: str) -> int:
    whole, _, fraction = seconds.partition(".")
    return int(whole) * NS + int(fraction.ljust(9, "0"))


def test_a_new_timeline_starts_with_the_clocks_that_the_options_ask_for(run, host_rootfs, folder):
    options = ["--timeline", folder / "t", "--uptime", "49d"]
    began = time.monotonic_ns()
    result = run(*options, *host_rootfs, "python3", "-c", READ_ONCE)
    took = time.monotonic_ns() - began

    assert (result.returncode, result.stderr) == (0, "")
    for reading in map(int, result.stdout.split()):
        assert 49 * 86_400 * NS <= reading <= 49 * 86_400 * NS + took
    assert fields(folder / "t")["state"] == "stopped"
    assert fields(folder / "t")["starts"] == "1"
    assert [f.name for f in folder.iterdir()] == ["t"]


def test_time_stands_still_while_stopped(run_as_anyone, host_rootfs, folder):
    options = ["--timeline", folder / "t", "--offset", "1d"]
    assert run_as_anyone(*options, *host_rootfs, "true").returncode == 0
    stopped = fields(folder / "t")
    time.sleep(0.5)
    began = time.monotonic_ns()
    result = run_as_anyone(*options, *host_rootfs, "python3", "-c", READ_ONCE)
    took = time.monotonic_ns() - began

    assert (result.returncode, result.stderr) == (0, "")
    for clock, reading in zip(("monotonic", "boottime"), result.stdout.split(), strict=True):
        assert ns(stopped[clock]) <= int(reading) <= ns(stopped[clock]) + took
    assert fields(folder / "t")["starts"] == "2"


def test_with_mode_wall_time_passes_while_stopped(run, host_rootfs, folder):
    options = ["--timeline", folder / "t", "--timeline-mode", "wall", "--offset", "1d"]
    assert run(*options, *host_rootfs, "true").returncode == 0
    stopped = fields(folder / "t")
    time.sleep(0.5)
    began = time.time_ns()
    result = run(*options, *host_rootfs, "python3", "-c", READ_ONCE)
    ended = time.time_ns()

    for clock, reading in zip(("monotonic", "boottime"), result.stdout.split(), strict=True):
        passed = int(reading) - ns(stopped[clock])
        assert began - ns(stopped["realtime"]) <= passed <= ended - ns(stopped["realtime"])


def test_a_host_clock_set_back_does_not_turn_a_wall_timeline_back(run, host_rootfs, folder):
    options = ["--timeline", folder / "t", "--timeline-mode", "wall", "--offset", "1d"]
    run(*options, *host_rootfs, "true")
    stopped = fields(folder / "t")
    rewrite(folder / "t", {"realtime": f"{int(time.time()) + 10**6}.5"})  # the date was later then
    result = run(*options, *host_rootfs, "python3", "-c", READ_ONCE)

    assert int(result.stdout.split()[0]) >= ns(stopped["monotonic"])


def rewrite(file: Path, changes: dict[str, str]) -> None:
    """A file as another host would have written it."""
    values = {**fields(file), **changes}
    body = "".join(f"{key} {value}\n" for key, value in values.items() if key != "crc32")
    file.write_text(f"{body}crc32 {zlib.crc32(body.encode()):08x}\n", encoding="ascii")


def test_a_timeline_moves_to_another_host(run, host_rootfs, folder):
    run("--timeline", folder / "t", "--offset", "1d", *host_rootfs, "true")
    elsewhere = {
        "state": "running",  # and that host crashed
        "boot-id": "11111111-2222-3333-4444-555555555555",
        "host-monotonic": "17.25",
        "host-boottime": "99999",
        "monotonic": "5000000.125",
        "boottime": "6000000.25",
        "reserved-monotonic": "5000030.125",
        "reserved-boottime": "6000030.25",
    }
    rewrite(folder / "t", elsewhere)
    began = time.monotonic_ns()
    result = run("--timeline", folder / "t", *host_rootfs, "python3", "-c", READ_ONCE)
    took = time.monotonic_ns() - began

    assert result.stderr == ""
    monotonic, boottime = map(int, result.stdout.split())
    assert ns("5000030.125") <= monotonic <= ns("5000030.125") + took
    assert ns("6000030.25") <= boottime <= ns("6000030.25") + took


def test_two_runs_of_one_timeline_at_once_are_refused(run, host_rootfs, folder):
    with run.start(
        "--timeline", folder / "t", *host_rootfs, "sh", "-c", "echo up; sleep 60"
    ) as one:
        assert one.stdout.readline() == "up\n"
        result = run("--timeline", folder / "t", *host_rootfs, "true")
        one.send_signal(signal.SIGTERM)

    assert result.returncode == 125
    assert result.stderr == (
        f"timens-run: timeline: {folder}/t is in use by another run: Device or resource busy\n"
        "hint: a timeline belongs to one service: give the other one a FILE of its own\n"
    )
    assert run("--timeline", folder / "t", *host_rootfs, "true").returncode == 0


def test_of_two_runs_that_begin_one_timeline_the_later_is_refused(run, host_rootfs, folder):
    """Both saw that there is no file; the gate holds the second back until the first is over."""
    command = ["--timeline", folder / "t", *host_rootfs, "true"]
    gate, opener = os.pipe()
    with run.start("--sync-fd", gate, *command, pass_fds=[gate]) as late:
        while not Path(f"/proc/{late.pid}/task/{late.pid}/children").read_text():
            time.sleep(0.01)
        assert run(*command).returncode == 0
        begun = (folder / "t").read_bytes()
        os.close(opener)
        _, complaint = late.communicate()
    os.close(gate)

    assert late.returncode == 125
    assert complaint == (
        f"timens-run: timeline: another run has begun {folder}/t in the meantime: File exists\n"
    )
    assert (folder / "t").read_bytes() == begun
    assert [f.name for f in folder.iterdir()] == ["t"]


VALID = "timens-timeline 1\nstate stopped\n"
MOVE = "hint: restore it from a copy, or move it away: a new timeline then begins\n"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "the file is empty, not a timeline"),
        ("root:x:0:0\n", "not a timeline: it does not begin with 'timens-timeline '"),
        ("timens-timeline 9\n", "its format '9' is not the format this program knows"),
        (VALID, "damaged: the line 'crc32' is missing"),
        (VALID + "crc32 00000000\n", "damaged: its lines do not give its checksum 00000000"),
        (
            f"{VALID}crc32 {zlib.crc32(VALID.encode()):08x}\n",
            "damaged: the line 'starts' is missing or wrong",
        ),
        ("timens-timeline 1\n" * 100, "damaged: it is longer than a timeline, or not text"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_and_left_alone(run, rootfs, folder, content, why):
    (folder / "t").write_text(content, encoding="ascii")
    result = run("--timeline", folder / "t", rootfs, "true")

    assert result.returncode == 125
    assert result.stderr == f"timens-run: timeline: {folder}/t: {why}: Invalid argument\n{MOVE}"
    assert (folder / "t").read_text(encoding="ascii") == content
    assert [f.name for f in folder.iterdir()] == ["t"]


def test_what_is_not_a_file_is_refused(run, rootfs, folder):
    (folder / "link").symlink_to("elsewhere")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    said = {
        "link": f"{folder}/link is a symbolic link: Too many levels of symbolic links",
        "folder": f"cannot open {folder}/folder: Is a directory",
        "fifo": f"{folder}/fifo is not a regular file: Invalid argument",
        "none/t": f"cannot open the folder {folder}/none/: No such file or directory",
    }
    for name, why in said.items():
        result = run("--timeline", folder / name, rootfs, "true")
        assert (result.returncode, result.stderr.splitlines()[0]) == (
            125,
            f"timens-run: timeline: {why}",
        )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--no-init"], "timeline: it needs new time and pid namespaces, and the init"),
        (["--share", "time"], "timeline: it needs new time and pid namespaces, and the init"),
        (["--share", "pid"], "timeline: it needs new time and pid namespaces, and the init"),
        (["--timeline", "u"], "--timeline: a container has one timeline"),
        (["--timeline-mode", "stop"], "--timeline-mode: 'stop' is neither pause nor wall"),
    ],
)
def test_what_cannot_keep_a_timeline_is_refused(run, rootfs, folder, options, why):
    result = run("--timeline", folder / "t", *options, rootfs, "true")

    assert result.returncode == 125
    assert result.stderr == f"timens-run: {why}: Invalid argument\n"
    assert list(folder.iterdir()) == []


def test_a_mode_without_a_timeline_is_refused(run, rootfs):
    result = run("--timeline-mode", "wall", rootfs, "true")

    assert result.stderr == (
        "timens-run: timeline: --timeline-mode without --timeline FILE: Invalid argument\n"
    )


def test_a_command_that_cannot_be_executed_begins_no_timeline(run, rootfs, folder):
    assert run("--timeline", folder / "t", rootfs, "/no/program").returncode == 127
    assert list(folder.iterdir()) == []


def test_explain_touches_no_timeline(run, rootfs, folder):
    result = run("--timeline", folder / "t", "--explain", rootfs, "true")

    assert "time is reserved on disk before anyone inside can read a clock" in result.stdout
    assert list(folder.iterdir()) == []


def fill(file: Path) -> None:
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass


@pytest.mark.root
def test_a_disk_that_takes_no_entry_costs_the_reserve_and_says_so(run, host_rootfs, folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
    try:
        command = ["--timeline", folder / "t", *host_rootfs, "sh", "-c", "echo up; read line"]
        with run.start(*command, stdin=subprocess.PIPE) as child:
            assert child.stdout.readline() == "up\n"
            fill(folder / "filler")
            _, complaint = child.communicate("\n")
        reserved = fields(folder / "t")
        names = sorted(f.name for f in folder.iterdir())
        (folder / "filler").unlink()
        again = run("--timeline", folder / "t", *host_rootfs, "python3", "-c", READ_ONCE)
    finally:
        subprocess.run(["umount", folder], check=True)

    assert complaint == (
        f"timens-run: warning: timeline: cannot write {folder}/t.new: No space left on device; "
        "the next start goes on from what was reserved\n"
    )
    assert names == ["filler", "t"]
    assert reserved["state"] == "running"
    assert int(again.stdout.split()[0]) >= ns(reserved["reserved-monotonic"])


def workload_of(launcher: int) -> int:
    """The process that init started: the only child of the launcher's only child."""
    (init,) = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    (workload,) = Path(f"/proc/{init}/task/{init}/children").read_text().split()
    return int(workload)


def test_the_clock_is_monotonic_over_50_restarts_and_10_kills(run, host_rootfs, folder):
    """Every fifth run is killed with SIGKILL: the launcher, or the workload, in turn."""
    choice = random.Random(4)
    last, jumps = 0, []
    for number in range(50):
        mode = choice.choice(["pause", "wall"])
        options = ["--timeline", folder / "t", "--timeline-mode", mode, "--offset", "1d"]
        with run.start(*options, *host_rootfs, "python3", "-c", READ_ON) as child:
            readings = [int(child.stdout.readline()) for _ in range(choice.randrange(1, 10))]
            if number % 10 == 4:
                child.send_signal(signal.SIGKILL)
            elif number % 10 == 9:
                os.kill(workload_of(child.pid), signal.SIGKILL)
            else:
                child.send_signal(signal.SIGTERM)
            out, err = child.communicate(timeout=10)
        readings += [int(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]

        assert err == ""
        assert readings == sorted(readings)
        assert readings[0] > last
        jumps.append(readings[0] - last)
        last = readings[-1]
    killed_before = jumps[5::10]  # the launcher, which could not record the last reading
    assert all(RESERVE_S * NS - NS <= jump <= (RESERVE_S + 5) * NS for jump in killed_before)
    others = [j for number, j in enumerate(jumps) if number > 0 and number % 10 != 5]
    assert max(others) < 5 * NS
    assert fields(folder / "t")["starts"] == "50"


def test_nobody_reads_a_time_that_is_not_on_disk(run, host_rootfs, stopped_launcher):
    """The launcher is stopped, so nothing is recorded: the container ends before its reserve."""
    launcher, init, timeline, readings = stopped_launcher
    reserved = ns(fields(timeline)["reserved-monotonic"])
    ended, _, _ = select.select([init], [], [], RESERVE_S + 5)
    assert ended
    launcher.kill()
    launcher.wait()
    last = int(readings.read_text(encoding="ascii").splitlines()[-2])  # a last one may be cut off
    result = run("--timeline", timeline, *host_rootfs, "python3", "-c", READ_ONCE)

    assert reserved - 2 * NS < last < reserved
    assert int(result.stdout.split()[0]) >= reserved
