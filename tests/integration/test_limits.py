# SPDX-License-Identifier: LGPL-2.1-or-later
"""What --memory, --cpus and --pids hold a container to, and that their cgroups go away."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit import Runner, as_user, control_groups

CGROUPS = Path("/sys/fs/cgroup")
MEBIBYTE = 1 << 20

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="control groups are root's here")


def own_folders(pid: int) -> list[Path]:
    """The cgroups that the launcher with this pid has made."""
    return sorted(control_groups(f"timens-run-{pid}-*"))


def members(folder: Path) -> list[str]:
    return (folder / "cgroup.procs").read_text(encoding="ascii").split()


def first_that_exists(folders: list[Path], *names: str) -> str:
    """The content of the file of this limit, as v1 or v2 calls it."""
    for folder in folders:
        for name in names:
            if (folder / name).exists():
                return (folder / name).read_text(encoding="ascii").strip()
    raise AssertionError(f"none of {names} in {folders}")


def wait_for(condition: object, timeout_s: float = 10.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


@needs_root
def test_limits_are_those_of_the_command_line(run: Runner, rootfs: Path) -> None:
    """Init and the payload are inside, the launcher is not."""
    child = run.start("--memory", "64M", "--cpus", "1.5", "--pids", "9", rootfs, "sleep", "30")
    wait_for(lambda: [len(members(f)) for f in own_folders(child.pid)] in ([2], [2, 2, 2]))
    folders = own_folders(child.pid)

    assert int(first_that_exists(folders, "memory.limit_in_bytes", "memory.max")) == 64 * MEBIBYTE
    assert first_that_exists(folders, "cpu.cfs_quota_us", "cpu.max") in ("150000", "150000 100000")
    assert first_that_exists(folders, "pids.max") == "9"
    assert all(str(child.pid) not in members(folder) for folder in folders)
    child.send_signal(signal.SIGTERM)
    assert child.wait(10) == 128 + signal.SIGTERM
    assert own_folders(child.pid) == []


@needs_root
def test_without_a_limit_no_cgroup_is_made(run: Runner, rootfs: Path) -> None:
    child = run.start(rootfs, "sleep", "30")
    wait_for(lambda: len(run.processes()) >= 3)
    assert own_folders(child.pid) == []
    child.terminate()
    child.wait(10)


@needs_root
def test_a_process_too_many_cannot_be_forked(run: Runner, rootfs: Path) -> None:
    done = run("--pids", 3, rootfs, "sh", "-c", "sleep 0 & sleep 0 & sleep 0 & wait; echo all")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "sh: can't fork: Resource temporarily unavailable\n"


@needs_root
def test_one_process_is_enough_without_init(run: Runner, rootfs: Path) -> None:
    """The network is then made by the container process itself."""
    done = run("--pids", 1, "--no-init", rootfs, "cat", "/sys/class/net/lo/operstate")
    assert (done.returncode, done.stdout, done.stderr) == (0, "unknown\n", "")


@needs_root
def test_one_process_is_too_few_for_init(run: Runner, rootfs: Path) -> None:
    done = run("--pids", 1, rootfs, "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == (
        "timens-run: init: cannot start the payload: Resource temporarily unavailable\n"
        "hint: a limit of processes is reached: --pids, ulimit -u, pids.max; "
        "--no-init needs one less\n"
    )


@needs_root
def test_two_processes_of_a_user_are_enough_without_init(run: Runner, rootfs: Path) -> None:
    """Launcher and container: no third one is left to make the network beside them."""
    run.prefix = [*as_user(54321), "prlimit", "--nproc=2", "--"]
    done = run("--no-init", rootfs, "cat", "/sys/class/net/lo/operstate")
    assert (done.returncode, done.stdout, done.stderr) == (0, "unknown\n", "")


def test_a_limit_of_time_namespaces_is_named(run: Runner) -> None:
    forbid = 'echo 0 >/proc/sys/user/max_time_namespaces && exec "$@"'
    run.prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"]
    done = run("--only", "time", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == (
        "timens-run: time namespace: cannot create a time namespace: No space left on device\n"
        "hint: a limit of namespaces is reached, see sysctl user.max_time_namespaces\n"
    )


@needs_root
def test_who_takes_more_memory_is_killed(run: Runner, rootfs: Path) -> None:
    """tail keeps what it has read: 64 MiB do not fit into 16."""
    fill = "head -c 67108864 /dev/zero | tail -c 60000000 | wc -c; exit 3"
    done = run("--memory", "16M", rootfs, "sh", "-c", fill)
    assert (done.returncode, done.stdout) == (3, "0\n")


@needs_root
def test_processor_time_is_a_share(run: Runner, rootfs: Path) -> None:
    """A busy loop at a fifth of a processor: what times(1) says lies below half of the elapsed."""
    busy = "read a b </proc/uptime; while read n b </proc/uptime; do " + (
        "[ $(( ${n%.*} - ${a%.*} )) -ge 2 ] && break; done; times"
    )
    start = time.monotonic()
    done = run("--cpus", "0.2", rootfs, "sh", "-c", busy)
    elapsed_s = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    minutes_and_seconds = [word.rstrip("s").split("m") for word in done.stdout.split()]
    used_s = sum(60 * float(m) + float(s) for m, s in minutes_and_seconds)
    assert used_s < elapsed_s / 2


@needs_root
def test_the_cgroup_goes_with_a_launcher_that_is_killed(run: Runner, rootfs: Path) -> None:
    child = run.start("--memory", "32M", "--pids", "20", rootfs, "sh", "-c", "sleep 99 & sleep 99")
    wait_for(lambda: len(run.processes()) >= 4)
    assert own_folders(child.pid) != []
    child.kill()
    child.wait(10)
    wait_for(lambda: own_folders(child.pid) == [] and run.processes() == [])


@needs_root
def test_the_cgroup_goes_even_if_its_guard_was_killed(run: Runner, rootfs: Path) -> None:
    child = run.start("--memory", "32M", rootfs, "sleep", "99")
    wait_for(lambda: len(run.processes()) >= 4)
    guards = [
        int(name.parent.name)
        for name in Path("/proc").glob("[0-9]*/comm")
        if name.read_text(encoding="ascii") == "timens-guard\n"
        and f"PPid:\t{child.pid}\n" in (name.parent / "status").read_text(encoding="ascii")
    ]
    assert len(guards) == 1
    os.kill(guards[0], signal.SIGKILL)
    child.terminate()
    assert child.wait(10) == 128 + signal.SIGTERM
    assert own_folders(child.pid) == []


@needs_root
def test_processes_outside_the_pid_namespace_end_too(run: Runner, rootfs: Path) -> None:
    """Without a PID namespace nothing but the cgroup knows all of them."""
    done = run("--pids", "20", "--share", "pid", rootfs, "sh", "-c", "setsid sleep 99 & exit 4")
    assert done.returncode == 4
    assert run.processes() == []


@pytest.fixture
def delegated(run_as_user: Runner) -> Iterator[Runner]:
    """cgroups(7), "Delegation": a folder that is the user's, and the user inside it."""
    is_v2 = (CGROUPS / "cgroup.controllers").exists()
    tree = CGROUPS if is_v2 else CGROUPS / "pids"
    box = tree / f"timens-tests-{os.getpid()}"
    inner = box / "inner"
    box.mkdir()
    if is_v2:
        (tree / "cgroup.subtree_control").write_text("+pids")
    inner.mkdir()
    for folder in (box, inner):
        for file in (folder, *folder.iterdir()):
            if not file.is_dir() or file == folder:
                os.chown(file, run_as_user.uid, run_as_user.uid)
    run_as_user.prefix = [
        *("sh", "-c", f'echo $$ >{inner}/cgroup.procs && exec "$@"', "sh"),
        *run_as_user.prefix,
    ]
    yield run_as_user
    left = list(box.rglob("timens-run-*"))
    inner.rmdir()
    box.rmdir()
    assert left == []


@needs_root
def test_limits_inside_a_delegated_cgroup_of_a_user(delegated: Runner, rootfs: Path) -> None:
    done = delegated("--pids", 3, rootfs, "sh", "-c", "sleep 0 & sleep 0 & sleep 0 & wait")

    assert done.stderr == "sh: can't fork: Resource temporarily unavailable\n"


@needs_root
def test_a_users_limits_overlay_filter_and_offsets_work_together(
    delegated: Runner, rootfs: Path
) -> None:
    script = """
        echo changed >/new && cat /new && grep Seccomp: /proc/self/status
        cut -d. -f1 /proc/uptime; id -u; sleep 0 & sleep 0 & sleep 0 & sleep 0 & wait
    """
    options = ["--pids", 4, "--overlay", "--uptime", "1000", "--hostname", "fig"]
    done = delegated(*options, rootfs, "sh", "-c", script)
    changed, filtered, uptime_s, uid = done.stdout.splitlines()

    assert (changed, filtered, uid) == ("changed", "Seccomp:\t2", "0")
    assert 1000 <= int(uptime_s) < 1060
    assert done.stderr == "sh: can't fork: Resource temporarily unavailable\n"
    assert not (rootfs / "new").exists()


def test_limits_that_are_not_ours_to_set_are_refused(run_as_user: Runner, rootfs: Path) -> None:
    done = run_as_user("--pids", 3, rootfs, "true")
    assert done.returncode == 125
    first, hint = done.stderr.splitlines()
    assert first.startswith("timens-run: cgroup: cannot create ")
    assert first.endswith(": Permission denied")
    assert hint == (
        "hint: limits need root, or a delegated cgroup: "
        "systemd-run --user --scope -p Delegate=yes COMMAND"
    )


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        (
            "--memory",
            "12",
            "memory limit '12': not between 1M and 2^63: Numerical result out of range",
        ),
        (
            "--memory",
            "5X",
            "memory limit '5X': not a whole number with K, M, G or T: Invalid argument",
        ),
        (
            "--cpus",
            "none",
            "processors 'none': not a number with up to 3 decimals: Invalid argument",
        ),
        ("--cpus", "0", "processors '0': not between 0.01 and 8192: Numerical result out of range"),
        ("--pids", "-1", "process limit '-1': not a whole number: Invalid argument"),
        (
            "--pids",
            "0",
            "process limit '0': not between 1 and 4194304: Numerical result out of range",
        ),
    ],
)
def test_a_limit_of_another_form_is_refused(
    run: Runner, option: str, value: str, reason: str
) -> None:
    done = run(option, value, "/", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == f"timens-run: {option}: {reason}\n"
