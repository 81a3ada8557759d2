# SPDX-License-Identifier: LGPL-2.1-or-later
"""The filter of system calls: the default, none, and profiles of one's own."""

import json
import shutil
import time
from pathlib import Path

import pytest

from kit import PROGRAM, PROJECT, Runner

SECCOMP_MODE = "grep Seccomp: /proc/self/status"
DEFAULT_PROFILE = PROJECT / "launcher/seccomp/default.json"


def profile(folder: Path, **content: object) -> Path:
    path = folder / f"profile-{time.monotonic_ns()}.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    path.chmod(0o644)
    return path


def test_the_clock_of_the_host_cannot_be_set_from_inside(
    run_as_anyone: Runner, rootfs: Path
) -> None:
    before = time.time()
    done = run_as_anyone(rootfs, "date", "-s", "2020-01-01 00:00:00")
    assert done.stderr == "date: can't set date: Operation not permitted\n"
    assert before <= time.time() <= before + 60


def test_no_clock_call_sets_anything_even_where_the_user_namespace_is_shared(
    run: Runner, host_rootfs: list[str]
) -> None:
    """No filter sees what adjtimex(2) is asked for: there the missing CAP_SYS_TIME says no."""
    script = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(result):
    return ctypes.get_errno() if result < 0 else 0
now = (ctypes.c_long * 2)(int(time.time()), 0)
timex = (ctypes.c_long * 32)(0x4000)  # ADJ_TICK
timex[10] = 10000
print(errno_of(libc.clock_settime(0, now)), errno_of(libc.settimeofday(now, None)),
      errno_of(libc.adjtimex(timex)), errno_of(libc.adjtimex((ctypes.c_long * 32)())))
"""
    done = run("--share", "user", *host_rootfs, "python3", "-c", script)
    assert (done.stdout, done.stderr) == ("1 1 1 0\n", "")


def test_the_filter_is_there_unless_it_is_refused(run_as_anyone: Runner, rootfs: Path) -> None:
    assert run_as_anyone(rootfs, "sh", "-c", SECCOMP_MODE).stdout == "Seccomp:\t2\n"
    unconfined = run_as_anyone("--seccomp", "unconfined", rootfs, "sh", "-c", SECCOMP_MODE)
    assert unconfined.stdout == "Seccomp:\t0\n"


def test_only_some_namespaces_take_nothing_away(run: Runner) -> None:
    assert run("--only", "time", "sh", "-c", SECCOMP_MODE).stdout == "Seccomp:\t0\n"
    for profile in ("default", DEFAULT_PROFILE):
        filtered = run("--only", "time", "--seccomp", profile, "sh", "-c", SECCOMP_MODE)
        assert filtered.stdout == "Seccomp:\t2\n"
    refused = run("--only", "time", "--seccomp", "default", "unshare", "-U", "true")
    assert refused.stderr.endswith("Operation not permitted\n")


def test_a_new_user_namespace_inside_is_refused(run_as_anyone: Runner, rootfs: Path) -> None:
    done = run_as_anyone(rootfs, "unshare", "-U", "true")
    assert done.returncode == 1
    assert done.stderr == "unshare: unshare(0x10000000): Operation not permitted\n"


def test_the_default_profile_is_a_profile_like_others(run: Runner, rootfs: Path) -> None:
    done = run("--seccomp", DEFAULT_PROFILE, rootfs, "sh", "-c", f"{SECCOMP_MODE}; unshare -U true")
    assert done.stdout == "Seccomp:\t2\n"
    assert done.stderr == "unshare: unshare(0x10000000): Operation not permitted\n"


def test_a_profile_answers_with_its_own_errno(
    run_as_anyone: Runner, rootfs: Path, shared_folder: Path
) -> None:
    path = profile(
        shared_folder,
        defaultAction="SCMP_ACT_ALLOW",
        syscalls=[
            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 122},
            {"names": ["sethostname"], "action": "SCMP_ACT_KILL_PROCESS"},
        ],
    )
    done = run_as_anyone("--seccomp", path, rootfs, "mkdir", "/tmp/new")
    assert done.stderr == "mkdir: can't create directory '/tmp/new': Disk quota exceeded\n"
    assert run_as_anyone("--seccomp", path, rootfs, "hostname", "new").returncode == 128 + 31


def test_init_is_not_filtered(run: Runner, rootfs: Path, shared_folder: Path) -> None:
    """It must reap whatever the profile says: wait4 is refused to the payload only."""
    path = profile(
        shared_folder,
        defaultAction="SCMP_ACT_ALLOW",
        syscalls=[{"names": ["wait4", "waitid"], "action": "SCMP_ACT_KILL_PROCESS"}],
    )
    assert run("--seccomp", path, rootfs, "sh", "-c", "exit 3").returncode == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "line 1: string or '}' expected near end of file: Invalid argument"),
        ("{}", "profile: defaultAction is missing: Invalid argument"),
        (
            '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["read"],'
            ' "action": "SCMP_ACT_DENY"}]}',
            "syscalls[0]: unknown action 'SCMP_ACT_DENY': Invalid argument",
        ),
        (
            '{"defaultAction": "SCMP_ACT_NOTIFY"}',
            "profile: SCMP_ACT_NOTIFY needs an agent: Operation not supported",
        ),
    ],
)
def test_a_profile_that_cannot_be_compiled_is_refused(
    run: Runner, rootfs: Path, shared_folder: Path, content: str, reason: str
) -> None:
    path = shared_folder / "wrong.json"
    path.write_text(content, encoding="utf-8")
    done = run("--seccomp", path, rootfs, "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == f"timens-run: --seccomp: {path}: {reason}\n"


def test_a_profile_that_is_not_there_is_named(run: Runner, rootfs: Path) -> None:
    done = run("--seccomp", "/nowhere.json", rootfs, "true")
    assert done.returncode == 125
    assert done.stderr == (
        "timens-run: --seccomp: cannot open /nowhere.json: No such file or directory\n"
    )


def test_the_program_with_the_libraries_is_named_where_it_is_missed(
    run: Runner, rootfs: Path, shared_folder: Path
) -> None:
    """One that is linked with glibc has them itself (docs/decisions/0152)."""
    alone = shared_folder / "alone" / "timens-run"
    alone.parent.mkdir()
    shutil.copy(PROGRAM, alone)
    run.program = alone
    done = run("--cap-add", "net_raw", rootfs, "grep", "Seccomp:", "/proc/self/status")
    if (PROGRAM.parent / "timens-run-full").exists():
        missed = alone.parent / "../libexec/timens-run/timens-run-full"
        assert done.stderr == (
            f"timens-run: --seccomp: cannot execute {missed}: No such file or directory\n"
            "hint: it reads JSON and compiles seccomp profiles, and was installed with timens-run:"
            " install both\n"
        )
        assert (done.returncode, done.stdout) == (125, "")
    else:
        assert (done.returncode, done.stdout) == (0, "Seccomp:\t2\n")
