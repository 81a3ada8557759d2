# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every system call of a start fails once: the step and the cause are told, and nothing is left.

strace(1) makes the Nth call of a name fail in each process.  `make test` takes the first and the
last of each name; `make faults` (TIMENS_FAULTS=all) takes all of them, with more errors.
"""

import errno
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kit import PROGRAM, Runner, control_groups

ALL = os.environ.get("TIMENS_FAULTS") == "all"

# Of the C library before main(), or not able to fail: close(2) always closes.
NOT_OURS = {
    *("arch_prctl", "exit_group", "exit", "mprotect", "prlimit64", "rseq", "rt_sigreturn"),
    *("set_robust_list", "set_tid_address", "getrandom", "restart_syscall", "brk", "munmap"),
    *(
        "close",
        "close_range",
        "wait4",
        "getpid",
        "getppid",
        "geteuid",
        "getuid",
        "getgid",
        "gettid",
        "clock_gettime",
        "capget",  # of ourselves
    ),
}
if "-asan" in str(PROGRAM) or "-coverage" in str(PROGRAM):  # their run-time libraries call, too
    NOT_OURS |= {"mmap", "pread64", "read", "sigaltstack", "openat", "fcntl", "ftruncate", "flock"}
# What may fail without harm to the container: the source says why, at each of them.
TOLERATED = {
    *("kill", "rt_sigprocmask", "rt_sigaction", "poll", "read", "chdir"),
    *("rt_sigtimedwait", "setsid", "unlinkat", "readlink", "lstat", "newfstatat", "getdents64"),
    *("faccessat2", "access", "ioctl", "unlink", "signalfd4", "prctl", "openat", "write"),
    *("fcntl", "getcwd", "mkdirat", "fstat", "execve", "sendmsg", "openat2", "lseek", "nanosleep"),
    *("open", "mmap"),  # as musl calls openat; and it does not need the guard page of its heap
}
OPTIONAL = {("mount", "EPERM")}  # /dev/mqueue and cgroup2, where they are not to be had
WITHOUT_HELP = {("clone", 1)}  # the container process makes the network namespace itself, then
# Which errors each can really give; all others run out of memory.
ERRORS = {
    "clone": ["EAGAIN", "ENOMEM"],
    "clone3": ["ENOSPC", "EAGAIN", "EPERM"],
    "fork": ["EAGAIN"],
    "mkdir": ["ENOSPC", "EACCES"],
    "mount": ["ENOMEM", "ENOSPC", "EPERM"],
    "open": ["EMFILE", "ENFILE"],
    "openat": ["EMFILE", "ENFILE"],
    "openat2": ["EMFILE", "ELOOP"],
    "open_tree": ["EMFILE", "EPERM"],
    "socketpair": ["EMFILE", "ENFILE"],
    "socket": ["EMFILE"],
    "signalfd4": ["EMFILE"],
    "unshare": ["ENOSPC", "EINVAL"],
    "write": ["ENOSPC", "EIO"],
    "symlink": ["ENOSPC"],
    "mknodat": ["ENOSPC"],
}


def command(rootfs: Path, folder: Path) -> list[object]:
    limits = ["--memory", "64M", "--pids", "50"] if os.geteuid() == 0 else []
    pid_file = ["--pid-file", folder / "faults.pid"]
    clocks = ["--boottime", "+3600", "--monotonic", "+3600"]
    return [*clocks, *limits, *pid_file, "--hostname", "fault", rootfs, "/bin/echo", "started"]


def calls_of_a_start(run: Runner, words: list[object], trace: Path) -> Counter[str]:
    """How often each system call is made by the process that makes it most often."""
    run.prefix = ["strace", "-f", "-qq", "-o", str(trace)]
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")
    by_process: Counter[tuple[str, str]] = Counter()
    payload: set[str] = set()
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        found = re.match(r"(\d+) +(\w+)\((.*)", line)
        if found is None or found[1] in payload:
            continue
        if found[2] == "execve" and "/bin/echo" in found[3]:
            payload.add(found[1])
        by_process[found[1], found[2]] += 1
    most: Counter[str] = Counter()
    for (_, name), count in by_process.items():
        most[name] = max(most[name], count)
    return Counter({name: count for name, count in most.items() if name not in NOT_OURS})


def cases(calls: Counter[str]) -> list[tuple[str, str, int]]:
    found = []
    for name, count in sorted(calls.items()):
        errors = ERRORS.get(name, ["ENOMEM"])
        for error in errors if ALL else errors[:1]:
            which = range(1, count + 1) if ALL else sorted({1, count})
            found += [(name, error, nth) for nth in which if (name, nth) != ("execve", 1)]
    return found


def check(run: Runner, words: list[object], name: str, error: str, nth: int) -> str | None:
    """What is wrong with the answer to this fault; None if nothing is."""
    inject = f"--inject={name}:error={error}:when={nth}"
    run.prefix = ["strace", "-f", "-qq", "-o", "/dev/null", inject]
    done = run(*words)
    cause = re.escape(os.strerror(getattr(errno, error)))
    if done.returncode == 0 and done.stdout == "started\n":
        tolerated = name in TOLERATED or (name, error) in OPTIONAL or (name, nth) in WITHOUT_HELP
        return None if tolerated else "was not noticed"
    if done.returncode not in (125, 126) or done.stdout != "":
        return f"status {done.returncode}, {done.stdout!r}, {done.stderr!r}"
    if (
        re.fullmatch(rf"(LLVM .+\n)*timens-run: [^:]+: .+: {cause}\n(hint: .+\n)?", done.stderr)
        is None
    ):
        return f"said {done.stderr!r}"
    return None


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_every_call_that_fails_is_told_and_undone(
    run: Runner, rootfs: Path, shared_folder: Path
) -> None:
    words = command(rootfs, shared_folder)
    calls = calls_of_a_start(run, words, shared_folder / "trace")
    assert calls["mount"] > 15
    assert calls["seccomp"] == 1
    before = control_groups("timens-run-*")
    wrong = []
    for name, error, nth in cases(calls):
        problem = check(run, words, name, error, nth)
        if problem is not None:
            wrong.append(f"{name} no. {nth}, {error}: {problem}")
        if (shared_folder / "faults.pid").exists():
            wrong.append(f"{name} no. {nth}, {error}: left its pid file")
            (shared_folder / "faults.pid").unlink()
    run.prefix = []
    run.assert_nothing_left(shared_folder)
    assert control_groups("timens-run-*") <= before
    assert not wrong, "\n".join(wrong)
