# SPDX-License-Identifier: LGPL-2.1-or-later
"""Command lines that are refused, and what standard error says to each."""

from pathlib import Path
from typing import NamedTuple

INVALID, RANGE, ABSENT, DIRECTORY = (
    "Invalid argument",
    "Numerical result out of range",
    "No such file or directory",
    "Is a directory",
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
        "--env-file /etc {root} true", "command line", "cannot read --env-file /etc", DIRECTORY
    ),
    Refusal(
        "--env-file /dev/zero {root} true",
        "command line",
        "--env-file /dev/zero has more than 1 MiB",
    ),
    Refusal(
        "--env-file /proc/self/cmdline {root} true",
        "command line",
        "--env-file /proc/self/cmdline is not text",
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
        "--oom-score-adj 1001 {root} true",
        "--oom-score-adj",
        "'1001' is not a number from -1000 to 1000",
    ),
    Refusal("--info-fd x {root} true", "--info-fd", "'x' is not a file descriptor"),
    *(
        Refusal(
            f"--{name} {number} {{root}} true",
            f"--{name}",
            f"descriptor {number} is not open",
            "Bad file descriptor",
        )
        for name in ("info-fd", "sync-fd")
        for number in (4, 5, 77)  # the first ones are soon numbers of our own
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
    Refusal(
        f"--name {LONG_NAME} {{root}} true",
        "command line",
        f"--name '{LONG_NAME}' is empty, longer than 64, or has a /",
    ),
    Refusal("--bind /nowhere:/x {root} true", "mounts", "cannot open /nowhere", ABSENT),
    Refusal(
        "--workdir /nowhere {root} true", "working directory", "cannot enter '/nowhere'", ABSENT
    ),
    *(
        Refusal(f"--{name}= {{root}} true", "command line", f"--{name} must not be empty")
        for name in (
            [
                "timeline",
                "overlay-dir",
                "bind",
                "ro-bind",
                "tmpfs",
                "workdir",
                "env-file",
                "seccomp",
                "pid-file",
            ]
        )
    ),
    Refusal("--join time= {root} true", "--join", "the path of 'time=' must not be empty"),
    Refusal(
        "--overlay-dir {root} {root} true",
        "command line",
        "--overlay-dir {root} is in the root filesystem",
        hint="give a folder beside it",
    ),
    Refusal(
        "--overlay-dir {root}/etc/../tmp {root} true",
        "command line",
        "--overlay-dir {root}/tmp is in the root filesystem",
        hint="give a folder beside it",
    ),
    Refusal(
        "--only time --share net true",
        "command line",
        "--only and --share exclude each other",
        hint="--only shares all that it does not name",
    ),
    Refusal(
        "--overlay --overlay-dir /tmp {root} true",
        "command line",
        "--overlay and --overlay-dir exclude each other",
        hint="the one forgets all changes, the other one keeps them",
    ),
    Refusal(
        "--net host --join net=/proc/self/ns/net {root} true",
        "command line",
        "--net host and --join net exclude each other",
        hint="leave one of them out",
    ),
    Refusal(
        "--net host --only net true",
        "command line",
        "--net host and --only net exclude each other",
        hint="leave one of them out",
    ),
    *(
        Refusal(words, "command line", "--net none needs a new net namespace")
        for words in (
            "--net none --share net {root} true",
            "--net none --join net=/proc/self/ns/net {root} true",
            "--net none --only time true",
        )
    ),
    Refusal(
        "--share uts --join uts=/proc/self/ns/uts {root} true",
        "command line",
        "the uts namespace is both shared and joined",
        hint="--share keeps the caller's, --join takes another's",
    ),
    *(
        Refusal(
            f"--cap-add {words} {{root}} true",
            "command line",
            f"{name} is both added and dropped",
            hint='either of the two may be "all", and then the other one is the exception',
        )
        for words, name in (
            ("kill,sys_time --cap-drop chown --cap-drop sys_time", "CAP_SYS_TIME"),
            ("all --cap-drop all", "CAP_CHOWN"),
        )
    ),
    *(
        Refusal(
            f"--map-users {word} --map-groups 0:0:1 {{root}} true",
            "command line",
            f"--map-users {word} says the groups as well",
            hint="leave --map-groups out, or give ranges to both",
        )
        for word in ("self", "auto")
    ),
    Refusal("--overlay-dir /nowhere {root} true", "overlay", "cannot open /nowhere", ABSENT),
    Refusal(
        "--tmpfs /etc/passwd {root} true",
        "mounts",
        "cannot enter /etc/passwd",
        "Not a directory",
    ),
    Refusal(
        "--tmpfs /etc/up {root} true",
        "mounts",
        "mount target '/etc/up' is the root itself",
        hint="a symbolic link leads there: put a folder in its place",
    ),
    Refusal(
        "--tmpfs /tmp:size=much {root} true",
        "mounts",
        "cannot mount tmpfs on /tmp",
    ),
]
