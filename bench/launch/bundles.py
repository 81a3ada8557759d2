#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the life of an OCI bundle costs: timens-oci beside crun and runc, and the bare floor.

usage: bundles.py [--rounds N] [--tree DIR] [--users root,user] [--write-table]

A life is what an engine asks for: create, start, the end of the container, delete; its container
runs busybox `true` in all namespaces that the runtime has, with the mounts, masks and capabilities
of a usual bundle.  It is measured plain and with a seccomp profile of 382 names.  All runtimes
take part once a round, in an order drawn anew; a ratio is the median of the ratios to the floor,
round by round.  The floor (floor.c) makes one container without a runtime: no state, no second
and third program, no cgroup.  The first round compiles the profile, the others may find it kept.

cgroup v2 of a hybrid host is hidden from all, or crun would not start (as root, the v1 trees are
used; as a user nobody has cgroups).  Files are as in run.py; --tree takes the runtimes of another
distribution.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import page
from run import (
    ALL_NAMESPACES,
    BUILD,
    FIRST,
    PROJECT,
    USER,
    Program,
    Result,
    able,
    as_user,
    compare,
    enter_tree,
    hide_unified,
    machine,
    prepare,
    version,
)

PROFILE_NAMES = 382
HARMLESS = ["nosuid", "noexec", "nodev"]
CAPABILITIES = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"]
MOUNTS = [
    ("/proc", "proc", HARMLESS),
    ("/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
    ("/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]),
    ("/dev/shm", "tmpfs", [*HARMLESS, "mode=1777", "size=65536k"]),
    ("/dev/mqueue", "mqueue", HARMLESS),
    ("/sys", "sysfs", [*HARMLESS, "ro"]),
]
MASKED = [f"/proc/{name}" for name in ("acpi", "kcore", "keys", "timer_list", "scsi")]
READ_ONLY = [f"/proc/{name}" for name in ("bus", "fs", "irq", "sys", "sysrq-trigger")]


@dataclass(frozen=True)
class Runtime:
    name: str
    words: str  # program and global options
    with_time: bool = True  # runc of Debian 13 does not know the namespace
    note: str = ""


def profile() -> dict[str, object]:
    """As large as the profiles that engines come with: one list of names."""
    default = json.loads((PROJECT / "launcher/seccomp/default.json").read_text(encoding="utf-8"))
    allowed = [e["names"] for e in default["syscalls"] if e["action"] == "SCMP_ACT_ALLOW"]
    names = list(dict.fromkeys(name for group in allowed for name in group))
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]
        if os.uname().machine == "x86_64"
        else [],
        "syscalls": [{"names": names[:PROFILE_NAMES], "action": "SCMP_ACT_ALLOW"}],
    }


def write_bundle(folder: Path, root: Path, *, rootless: bool, time: bool, filtered: bool) -> Path:
    ids = [{"containerID": 0, "hostID": USER if rootless else 0, "size": 1 if rootless else 65536}]
    kinds = [kind for kind in ALL_NAMESPACES if time or kind != "time"]
    linux: dict[str, object] = {
        "namespaces": [{"type": kind} for kind in kinds],
        "uidMappings": ids,
        "gidMappings": ids,
        "maskedPaths": [*MASKED, "/sys/firmware"],
        "readonlyPaths": READ_ONLY,
    }
    if time:
        hour = {"secs": 3600, "nanosecs": 0}
        linux["timeOffsets"] = {"monotonic": hour, "boottime": hour}
    if filtered:
        linux["seccomp"] = profile()
    config = {
        "ociVersion": "1.1.0",
        "process": {
            "args": ["/bin/true"],
            "cwd": "/",
            "env": ["PATH=/bin", "TERM=xterm"],
            "user": {"uid": 0, "gid": 0},
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES),
            "noNewPrivileges": True,
        },
        "root": {"path": str(root), "readonly": True},
        "hostname": "race",
        "mounts": [
            {"destination": target, "type": kind, "source": kind, "options": options}
            for target, kind, options in MOUNTS
        ],
        "linux": linux,
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def life(runtime: Runtime, bundle: Path, state: Path) -> str:
    """One line of race.c; the state folder and the id are of this runtime and bundle alone."""
    name = f"race-{bundle.name}-{re.sub('[^a-z]', '', runtime.name)}"
    pid_file = f"{state}/{name}.pid"
    words = f"{runtime.words} --root {state}/{name}"
    return (
        f"{words} create --bundle {bundle} --pid-file {pid_file} {name}"
        f" ; {words} start {name} ; end-of {pid_file} ; {words} delete {name}"
    )


def programs(work: Path, *, rootless: bool) -> list[Program]:
    """The floor first, then every runtime with the plain and the filtered bundle."""
    who = "user" if rootless else "root"
    root, state = work / f"rootfs-{who}", work / f"state-{who}"
    cgroups = "--cgroup-manager=disabled" if rootless else "--cgroup-manager=cgroupfs"
    runtimes = [
        Runtime("timens-oci", f"{work}/bin/timens-oci {cgroups}"),
        Runtime("crun", f"crun {cgroups}"),
        Runtime("runc", "runc", with_time=False, note="no time namespace"),
    ]
    found = [Program("floor", f"{work}/bin/floor {root} /bin/true", "one program, no cgroup")]
    for filtered in (False, True):
        for time in (True, False):
            kind = f"{'filtered' if filtered else 'plain'}{'' if time else '-notime'}"
            bundle = write_bundle(
                work / who / kind, root, rootless=rootless, time=time, filtered=filtered
            )
            suffix = f", {PROFILE_NAMES} names" if filtered else ""
            found += [
                Program(f"{r.name}{suffix}", life(r, bundle, state), r.note)
                for r in runtimes
                if r.with_time == time
            ]
    return found


def on_tmpfs(work: Path) -> list[str]:
    """A command prefix: states are kept as in /run, not on a disk."""
    places = " ".join(f"{work}/state-{who}" for who in ("root", "user"))
    script = f'for d in {places}; do mount -t tmpfs -o mode=1777 tmpfs $d; done; exec "$@"'
    return ["sh", "-ec", script, "sh"]


def able_here(prefix: list[str], work: Path, candidates: list[Program]) -> list[Program]:
    """As able(), by one round of race, which knows how to wait for a container."""
    found = []
    for program in candidates:
        script = work / "try.sh"
        force = program.command.split(" ; ")[-1].replace(" delete ", " delete --force ")
        script.write_text(
            f"echo '{program.command}' | {work}/bin/race 1 1 | awk '{{ exit $NF }}' || "
            f"{{ status=$?; {force if ' ; ' in program.command else ':'}; exit $status; }}\n",
            encoding="utf-8",
        )
        script.chmod(0o644)
        found += [program] if able(prefix, [Program(program.name, f"sh {script}")]) else []
    return found


def table(prefix: list[str], results: list[Result]) -> str:
    lines = [
        "| bundle's life by | version | ratio to floor | quartiles | median, ms | peak RSS, kB | |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        low, middle, high = statistics.quantiles(r.ratios, n=4)
        lines.append(
            f"| {r.program.name} | {version(prefix, r.program)} | **{middle:.2f}** |"
            f" {low:.2f} to {high:.2f} | {r.milliseconds:.2f} | {r.peak_kb} | {r.program.note} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--tree", type=Path, help="take the runtimes of this root filesystem")
    parser.add_argument("--users", default="root,user", help="who starts: root, user or both")
    parser.set_defaults(real_time=False)  # for machine(): runc refuses such a priority
    parser.add_argument("--write-table", action="store_true", help="into docs/performance.md")
    args = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("bundles.py: other users are entered from root: Operation not permitted")
    tables = []
    with tempfile.TemporaryDirectory(prefix="timens-bench-", dir="/var/tmp") as name:
        work = Path(name)
        prepare(work)
        shutil.copy(BUILD / "launcher/timens-oci", work / "bin")
        for who in args.users.split(","):
            rootless = who == "user"
            prefix = enter_tree(args.tree.resolve(), work) if args.tree else hide_unified()
            prefix += on_tmpfs(work) + FIRST + (as_user(work) if rootless else [])
            candidates = programs(work, rootless=rootless)
            runners = able_here(prefix, work, candidates)
            results = compare(prefix, work, runners, args.rounds)
            tables.append(f"As {who}:\n\n{table(prefix, results)}")
            print(f"\n{tables[-1]}\n", flush=True)
    tables.insert(0, machine(args).strip())
    if args.write_table:
        page.fill("bench/launch/bundles.py", "\n" + "\n\n".join(tables) + "\n\n")


if __name__ == "__main__":
    main()
