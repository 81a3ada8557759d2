# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every refusal of bad input by its exact text, with nothing done and nothing left.

Refusals of the kernel are provoked where they belong, or by fault injection.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

LAUNCHER = Path(__file__).parents[2] / "launcher"
INVALID, RANGE, ABSENT = (
    "Invalid argument",
    "Numerical result out of range",
    "No such file or directory",
)


class Refusal(NamedTuple):
    """A command line, and what standard error says to it; {root} is a root filesystem."""

    words: str
    step: str
    text: str
    cause: str = INVALID
    hint: str = ""

    def expected(self, root: Path) -> str:
        hint = f"hint: {self.hint}\n" if self.hint else ""
        return f"timens-run: {self.step}: {self.text}: {self.cause}\n{hint}".replace(
            "{root}", str(root)
        )


USAGE = "timens-run [OPTIONS] ROOTFS COMMAND [ARG...]"
NAMESPACES = "one of: cgroup ipc mnt net pid time user uts"
DURATION = "a duration is +3600, -30, 1.5, 1h30m, 2d 3h, 500ms or P1DT2H; a bare number is seconds"
MAPS = "map them: --map-users and --map-groups, or ranges for you in /etc/subuid and /etc/subgid"
RANGES = "INSIDE:OUTSIDE:COUNT[,...], for example 0:100000:65536"
RESOURCES = (
    "one of: as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime "
    "sigpending stack"
)
LIMIT = 'NAME=SOFT[:HARD], each a number or "unlimited"'
LONG_MAP = ",".join(f"{n}:{n}:1" for n in range(17))
LONG_NAME = "n" * 65

REFUSALS = [
    Refusal("", "command line", "no ROOTFS", hint=USAGE),
    Refusal(
        "--bogus {root} true",
        "command line",
        "unknown option '--bogus'",
        hint="timens-run --help lists all options",
    ),
    Refusal(
        "-x {root} true",
        "command line",
        "unknown option '-x'",
        hint="timens-run --help lists all options",
    ),
    Refusal("--read-only=yes {root} true", "command line", "--read-only takes no value"),
    Refusal("--boottime", "command line", "--boottime needs D"),
    Refusal("--json {root} true", "command line", "--json without --check"),
    Refusal(
        "/nowhere true",
        "command line",
        "cannot open the root filesystem '/nowhere'",
        ABSENT,
    ),
    Refusal(
        "{root}/etc/passwd true",
        "command line",
        "cannot open the root filesystem '{root}/etc/passwd'",
        "Not a directory",
    ),
    Refusal(
        "--only time",
        "command line",
        "no COMMAND",
        hint="timens-run [OPTIONS] --only NS,... [--] COMMAND [ARG...]",
    ),
    Refusal("--boottime soon {root} true", "--boottime", "'soon' is not a duration", hint=DURATION),
    Refusal(
        "--offset 1 --boottime 2 {root} true", "--boottime", "--offset has set this clock already"
    ),
    Refusal("--only tim true", "--only", "'tim' is not a namespace", hint=NAMESPACES),
    Refusal("--share net,, {root} true", "--share", "'' is not a namespace", hint=NAMESPACES),
    Refusal(
        "--join time {root} true",
        "--join",
        "'time' is not NS=PATH",
        hint="for example time=/proc/1234/ns/time",
    ),
    Refusal(
        "--join what=/x {root} true",
        "--join",
        "'what=/x' is not NS=PATH",
        hint="for example time=/proc/1234/ns/time",
    ),
    Refusal(
        "--net wlan {root} true", "command line", "--net 'wlan' is none of none, host and pasta"
    ),
    Refusal("--bind :/x {root} true", "--bind", "an empty path, but SRC:DST is needed"),
    Refusal("--bind /x: {root} true", "--bind", "an empty path, but SRC:DST is needed"),
    Refusal(
        "--bind /etc:etc {root} true",
        "command line",
        "mount target 'etc' is not an absolute path below /",
    ),
    Refusal(
        "--tmpfs / {root} true", "command line", "mount target '/' is not an absolute path below /"
    ),
    Refusal("--proc full {root} true", "--proc", "'full' is none of oci, plain and none"),
    Refusal("--env =x {root} true", "--env", "'=x' has no name"),
    Refusal(
        "--env-file /nowhere {root} true", "command line", "cannot open --env-file /nowhere", ABSENT
    ),
    Refusal(
        "--env-file {root}/etc/env {root} true",
        "command line",
        "--env-file {root}/etc/env: '=oops' has no name",
    ),
    Refusal(
        "--rlimit lunch=1 {root} true", "--rlimit", "'lunch' is not a resource", hint=RESOURCES
    ),
    Refusal("--rlimit nofile {root} true", "--rlimit", "'nofile' is not a limit", hint=LIMIT),
    Refusal("--rlimit nofile=a {root} true", "--rlimit", "'nofile=a' is not a limit", hint=LIMIT),
    Refusal(
        "--rlimit nofile=2:1 {root} true",
        "--rlimit",
        "the soft limit in 'nofile=2:1' is above the hard limit",
    ),
    Refusal(
        f"--rlimit nofile={'1' * 80} {{root}} true",
        "--rlimit",
        "a limit of more than 79 characters",
    ),
    Refusal(
        "--rlimit=core=0 " * 17 + "{root} true",
        "--rlimit",
        "more than 16 limits",
    ),
    Refusal(
        "--oom-score-adj 1001 {root} true",
        "--oom-score-adj",
        "'1001' is not a number from -1000 to 1000",
    ),
    Refusal("--info-fd x {root} true", "--info-fd", "'x' is not a file descriptor"),
    Refusal(
        "--sync-fd 77 {root} true", "start gate", "--sync-fd 77 is not open", "Bad file descriptor"
    ),
    Refusal(
        "--kill-timeout -- {root} true", "--kill-timeout", "'--' is not a duration", hint=DURATION
    ),
    Refusal(
        "--kill-timeout 30d {root} true",
        "--kill-timeout",
        "'30d' is not between 0 and 24 days",
        RANGE,
    ),
    Refusal("--cap-add fly {root} true", "--cap-add", "'fly' is not a capability"),
    Refusal(
        "--user nobody-here {root} true",
        "command line",
        "no user 'nobody-here' in /etc/passwd of the root filesystem",
    ),
    Refusal(
        "--group nogroup-here {root} true",
        "command line",
        "no group 'nogroup-here' in /etc/group of the root filesystem",
    ),
    Refusal(
        "--only time --user nobody-here true",
        "command line",
        "no user 'nobody-here' in /etc/passwd",
    ),
    Refusal(
        f"--groups {','.join(map(str, range(33)))} {{root}} true",
        "command line",
        "--groups names more than 32 groups",
    ),
    Refusal(
        "--map-users 0:0 {root} true", "command line", "'0:0' is not a range of ids", hint=RANGES
    ),
    Refusal("--map-users 0:0:0 {root} true", "command line", "a range of no ids"),
    Refusal(
        "--map-users 1:0:4294967295 {root} true",
        "command line",
        "range 1:0:4294967295 ends beyond id 4294967294",
    ),
    Refusal(
        "--map-users 0:0:10,5:20:1 {root} true",
        "command line",
        "range 5:20:1 overlaps 0:0:10",
    ),
    Refusal(f"--map-users {LONG_MAP} {{root}} true", "command line", "more than 16 ranges"),
    Refusal(
        f"--map-users 0:0:{'1' * 600} {{root}} true",
        "command line",
        "a map of more than 511 characters",
    ),
    Refusal(
        "--map-users auto {root} true",
        "command line",
        "no ranges for user 0 in /etc/subuid and /etc/subgid",
        hint="root adds them with usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "
        "USER",
    ),
    Refusal(
        "--only time --map-users 0:0:1 true",
        "command line",
        "--map-users and --map-groups need a new user namespace",
    ),
    Refusal(
        "--map-users 5:5:1 {root} true",
        "command line",
        "user 0 and group 0 have no ids outside",
        hint=MAPS,
    ),
    Refusal(
        "--join time=/proc/self/ns/time --only time true",
        "command line",
        "the time namespace is both created and joined",
    ),
    Refusal(
        "--join pid=/proc/self/ns/pid {root} true",
        "command line",
        "--join pid needs its owner",
        hint="its user namespace as well: --join user=PATH (or --share user)",
    ),
    Refusal(
        "--share time --boottime 1 {root} true",
        "command line",
        "--boottime and --monotonic need a new time namespace",
        hint="a time namespace that is shared or joined has clocks already",
    ),
    Refusal(
        "--share uts --hostname x {root} true",
        "command line",
        "--hostname needs a new uts namespace",
    ),
    Refusal(
        f"--hostname {LONG_NAME} {{root}} true",
        "command line",
        "--hostname has more than 64 characters",
    ),
    Refusal(
        "--share mnt {root} true",
        "command line",
        "a root filesystem needs a new mnt namespace",
        hint="--only and --join mnt take no ROOTFS",
    ),
    Refusal(
        "--only mnt --read-only true",
        "command line",
        "overlays and --read-only need a ROOTFS",
    ),
    Refusal("--only time --tmpfs /x true", "command line", "mounts need a new mnt namespace"),
    Refusal("--workdir tmp {root} true", "command line", "--workdir 'tmp' is not an absolute path"),
    Refusal("--tty --only time true", "command line", "--tty needs a ROOTFS with --dev oci"),
    Refusal(
        "--net pasta --share net {root} true",
        "command line",
        "--net pasta needs a new net namespace",
    ),
    Refusal(
        "--name a/b {root} true",
        "command line",
        "--name 'a/b' is empty, longer than 64, or has a /",
    ),
    Refusal("--bind /nowhere:/x {root} true", "mounts", "cannot open /nowhere", ABSENT),
    Refusal(
        "--workdir /nowhere {root} true", "working directory", "cannot enter '/nowhere'", ABSENT
    ),
    Refusal("--overlay-dir /nowhere {root} true", "overlay", "cannot open /nowhere", ABSENT),
    Refusal(
        "--tmpfs /etc/passwd {root} true",
        "mounts",
        "cannot enter /etc/passwd",
        "Not a directory",
    ),
    Refusal(
        "--tmpfs /tmp:size=much {root} true",
        "mounts",
        "cannot mount tmpfs on /tmp",
    ),
]

# Tested beside what they belong to: clocks, limits, seccomp profiles, image configurations.
ELSEWHERE = re.compile(
    r"(front/(seccomp|clock_options|image_config)|model/(timeline|near_wrap|limits|cgroup_place"
    r"|bpf|clock_)|clocks/|engine/(visit|journal|host_check)|steps/cgroup)"
)
# Only a failing kernel or a lack of memory shows these: fault injection does.
INJECTED = {"ENOMEM", "EPROTO", "EFBIG", "EPIPE"}


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.words[:60] or "nothing")
def test_bad_input_is_refused_by_its_exact_reason(run, rootfs, refusal):
    if os.geteuid() != 0 and "subuid" in refusal.text:
        pytest.skip("the number of the user differs")
    (rootfs / "etc/env").write_text("=oops\n", encoding="utf-8")
    before = sorted(rootfs.iterdir())
    result = run(*refusal.words.replace("{root}", str(rootfs)).split())

    assert result.stderr == refusal.expected(rootfs)
    assert (result.returncode, result.stdout) == (125, "")
    assert [p for p in rootfs.iterdir() if p not in before and p.name != "x"] == []


def formats_of_refusals() -> dict[str, str]:
    """Every text in the sources that goes with a constant cause, and its file."""
    found = {}
    call = re.compile(r'err_set\(\s*e,\s*(E[A-Z0-9]+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
    for file in sorted(LAUNCHER.rglob("*.c")):
        name = str(file.relative_to(LAUNCHER))
        for code, literals in call.findall(file.read_text(encoding="utf-8")):
            if code not in INJECTED and not ELSEWHERE.match(name):
                found["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))] = name
    return found


def test_every_refusal_of_bad_input_in_the_sources_is_in_the_table():
    texts = [r.expected(Path("/")) for r in REFUSALS]
    others = {  # provoked by tests of their own
        "%s refused (it says why above)",
        "%s before the start",
        "this program must not be setuid or have capabilities",
    }
    missing: list[str] = []
    assert len(formats_of_refusals()) > 40
    for text, file in formats_of_refusals().items():
        pattern = re.escape(text).replace("%", "\x00")
        pattern = re.sub(r"\x00(\\\.\\?\*|\\\.[0-9]+)?z?[sducm]", ".*", pattern)
        if text not in others and not any(re.search(pattern, t) for t in texts):
            missing.append(f"{file}: {text}")
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("command", "status", "text", "hint"),
    [
        (
            ["nonsense"],
            127,
            "cannot execute 'nonsense': No such file or directory",
            "looked for in the PATH of the container",
        ),
        (["/no/such"], 127, "cannot execute '/no/such': No such file or directory", ""),
        (["/etc/passwd"], 126, "cannot execute '/etc/passwd': Permission denied", ""),
        (["/etc"], 126, "cannot execute '/etc': Permission denied", ""),
        (
            ["/tmp/script"],
            127,
            "cannot execute '/tmp/script': No such file or directory",
            "the file is there, but the interpreter or loader that it names is not: see "
            "timens-rootfs add",
        ),
    ],
)
@pytest.mark.parametrize("options", [[], ["--no-init"]])
def test_a_command_that_cannot_run_is_named(run, make_rootfs, options, command, status, text, hint):
    root = make_rootfs()
    (root / "tmp/script").write_text("#!/no/interpreter\n", encoding="utf-8")
    (root / "tmp/script").chmod(0o755)
    result = run(*options, root, *command)

    assert result.stderr == f"timens-run: exec: {text}\n" + (f"hint: {hint}\n" if hint else "")
    assert result.returncode == status


def test_a_user_who_may_not_create_a_time_namespace_is_told_how(run_as_user):
    result = run_as_user("--only", "time", "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: time namespace: cannot create a time namespace: Operation not permitted\n"
        "hint: only root may; others first need a user namespace: --only user,time\n"
    )


def test_a_root_that_cannot_be_written_says_which_folder_is_missing(run_as_user, make_rootfs):
    root = make_rootfs()
    (root / "proc").rmdir()
    root.chmod(0o755)
    result = run_as_user(root, "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: mounts: cannot make /proc in the root filesystem: Permission denied\n"
    )


INJECTIONS = [
    (
        "unshare:error=EINVAL:when=2",
        "timens-run: time namespace: cannot create a time namespace: Invalid argument\n"
        "hint: this kernel has none (CONFIG_TIME_NS, Linux 5.6): leave the clocks alone with "
        "--share time\n",
    ),
    (
        "clone3:error=ENOSPC",
        "timens-run: clone: cannot create the container process: No space left on device\n"
        "hint: a limit of namespaces is reached, see sysctl user.max_*_namespaces and "
        "namespaces(7)\n",
    ),
    (
        "clone3:error=EPERM",
        "timens-run: clone: cannot create the container process: Operation not permitted\n"
        "hint: are user namespaces forbidden here? see sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns\n",
    ),
    (
        "clone3:error=EAGAIN",
        "timens-run: clone: cannot create the container process: Resource temporarily unavailable\n"
        "hint: a limit of processes is reached: ulimit -u, pids.max\n",
    ),
    (
        "socketpair:error=EMFILE",
        "timens-run: channel: cannot create the channel: Too many open files\n",
    ),
    (
        "pivot_root:error=EINVAL",
        "timens-run: pivot root: cannot make it the root: Invalid argument\n"
        "hint: the host's root is an initial ramfs, or we are in a chroot: neither can be pivoted "
        "away from\n",
    ),
    (
        "capset:error=EPERM",
        "timens-run: capabilities: cannot limit the capabilities: Operation not permitted\n",
    ),
    (
        "setns:error=EUSERS",
        "timens-run: time namespace: cannot enter the new time namespace: Too many users\n",
    ),
]


@pytest.mark.parametrize(("fault", "expected"), INJECTIONS, ids=[f for f, _ in INJECTIONS])
def test_a_refusal_of_the_kernel_is_explained(run, rootfs, tmp_path, fault, expected):
    run.prefix = ["strace", "-f", "-o", str(tmp_path / "trace"), "-e", f"inject={fault}"]
    result = run("--boottime", "1", rootfs, "true")

    assert (result.returncode, result.stderr) == (125, expected)
