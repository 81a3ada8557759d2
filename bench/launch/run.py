#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a container start costs: timens-run, the floor, and every peer that is installed.

usage: run.py [--rounds N] [--tree DIR] [--users root,user] [--real-time] [--write-table]

Every program starts busybox `true` in the same root.  All run once a round, in an order drawn
anew; the ratio of a program is the median of its ratios to the floor, round by round.  All run with
the highest ordinary priority, so that what else the machine does decides less.

With --tree the race is held inside that root filesystem (a newer distribution, say), entered by
pivot_root, so that its programs are the peers.  cgroup v2 of a hybrid host is hidden from all, or
crun would not start.

--real-time is for a machine that others use: all start with a real-time priority, which runc and
lxc-execute refuse.

--write-table puts the tables in place of those of docs/performance.md.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import page

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
USER = 65533  # nobody's, without ranges of ids
FIRST = ["nice", "-n", "-20"]
REAL_TIME = ["chrt", "--fifo", "40"]
OFFSETS = "--monotonic 3600 --boottime 3600"
STARTS_EACH = 200  # of each worker, for the starts per second
IN_A_ROW = ("floor", "timens-run", "timens-run --no-init", "unshare", "bwrap", "crun")
ALL_NAMESPACES = ("user", "pid", "mount", "network", "ipc", "uts", "cgroup", "time")


@dataclass(frozen=True)
class Program:
    """One line of the table."""

    name: str
    command: str  # in the words of race.c: apart by one space, # for a number
    note: str = ""
    namespaces: int = 8


@dataclass(frozen=True)
class Result:
    program: Program
    ratios: list[float]
    milliseconds: float
    peak_kb: int


def oci_bundle(folder: Path, root: Path, *, rootless: bool, with_time: bool) -> Path:
    """A bundle as bare as an OCI runtime takes it, with the same namespaces."""
    kinds = [k for k in ALL_NAMESPACES if with_time or k != "time"]
    size = 1 if rootless else 65536
    own = USER if rootless else 0
    ids = [{"containerID": 0, "hostID": own, "size": size}]
    linux: dict[str, object] = {
        "namespaces": [{"type": kind} for kind in kinds],
        "uidMappings": ids,
        "gidMappings": ids,
    }
    if with_time:
        hour = {"secs": 3600, "nanosecs": 0}
        linux["timeOffsets"] = {"monotonic": hour, "boottime": hour}
    config = {
        "ociVersion": "1.1.0",
        "process": {
            "args": ["/bin/true"],
            "cwd": "/",
            "env": ["PATH=/bin"],
            "user": {"uid": 0, "gid": 0},
            "noNewPrivileges": True,
        },
        "root": {"path": str(root)},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            # or they would make devices in the image, and stumble over each other's
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]},
        ],
        "linux": linux,
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def programs(work: Path, *, rootless: bool) -> list[Program]:
    """All that could take part; those that are not there or do not work are told and left out."""
    who = "user" if rootless else "root"
    root, state = work / f"rootfs-{who}", work / f"state-{who}"
    timens = f"{work}/bin/timens-run {OFFSETS}"
    found = [
        Program("floor", f"{work}/bin/floor {root} /bin/true", "bare static C, the same calls"),
        Program("timens-run", f"{timens} {root} /bin/true", "default seccomp filter, init"),
        Program("timens-run --no-init", f"{timens} --no-init {root} /bin/true"),
        Program(
            "timens-run --seccomp unconfined", f"{timens} --seccomp unconfined {root} /bin/true"
        ),
        Program(
            "unshare",
            "unshare --user --map-root-user --pid --fork --mount --net --ipc --uts --cgroup --time"
            f" {OFFSETS} --mount-proc=/proc --root {root} /bin/true",
            "no /dev, no /sys, no filter, chroot",
        ),
        Program(
            "bwrap",
            f"bwrap --unshare-all --bind {root} / --proc /proc --dev /dev /bin/true",
            "no filter",
            7,
        ),
        Program("nsjail", f"nsjail -Q -Mo --chroot {root} -- /bin/true", "no offsets"),
    ]
    for with_time in (True, False):
        suffix = "" if with_time else ", without time"
        name = f"bundle-{who}-{'time' if with_time else 'plain'}"
        bundle = oci_bundle(work / name, root, rootless=rootless, with_time=with_time)
        for runtime in ("crun --cgroup-manager=disabled", "runc"):
            words = f"{runtime} --root {state}/{runtime[:4]} run --bundle {bundle}"
            found.append(
                Program(
                    f"{runtime[:4]}{suffix}",
                    f"{words} race-{name}-#",
                    "/proc and /dev only; no filter, no cgroup",
                    8 if with_time else 7,
                )
            )
    if not rootless:
        config = work / "lxc.conf"
        config.write_text(
            f"lxc.rootfs.path = dir:{root}\nlxc.mount.auto = proc:rw\n"
            "lxc.apparmor.profile = unchanged\n"
            "lxc.idmap = u 0 0 65536\nlxc.idmap = g 0 0 65536\n"
            "lxc.time.offset.boot = 3600s\nlxc.time.offset.monotonic = 3600s\n",
            encoding="utf-8",
        )
        found += [
            Program("lxc-execute", f"lxc-execute -n race-# -f {config} -P {state} -- /bin/true"),
            Program(
                "systemd-nspawn",
                f"systemd-nspawn -q --register=no --keep-unit --private-users=0:65536"
                f" --private-network -D {root} /bin/true",
                namespaces=7,
            ),
        ]
    return found


def enter_tree(tree: Path, work: Path) -> list[str]:
    """A command prefix that enters another root filesystem; / must be a mount there."""
    script = f"""
        mount --make-rprivate /
        mount --bind {tree} {tree} && cd {tree}
        mount -t proc proc proc && mount --rbind /sys sys && mount --rbind /dev dev
        umount -l sys/fs/cgroup/unified 2>/dev/null || :
        mount -t tmpfs tmpfs run && mount -t tmpfs -o mode=1777 tmpfs tmp
        mkdir -p .{work} && mount --rbind {work} .{work}
        pivot_root . mnt && umount -l /mnt && cd / && exec "$@"
    """
    return ["unshare", "--mount", "sh", "-ec", script, "sh"]


def hide_unified() -> list[str]:
    """A command prefix for the host's own programs."""
    script = 'umount -l /sys/fs/cgroup/unified 2>/dev/null || :; exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


def as_user(work: Path) -> list[str]:
    environment = [f"XDG_RUNTIME_DIR={work}/runtime", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    ids = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return ["setpriv", *ids, "--", "env", *environment]


def hold_race(
    prefix: list[str], work: Path, commands: list[str], rounds: int
) -> list[tuple[int, int, int, int, int]]:
    """(round, command, nanoseconds, peak kB, status) of each run."""
    done = subprocess.run(
        [*prefix, str(work / "bin/race"), str(rounds), "1"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    return rows  # type: ignore[return-value]


def able(prefix: list[str], candidates: list[Program]) -> list[Program]:
    """Those that work here; why the others do not is told."""
    able_ones = []
    for program in candidates:
        done = subprocess.run(
            [*prefix, *program.command.replace("#", f"able-{os.getpid()}").split(" ")],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            able_ones.append(program)
        else:
            reason = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
            print(f"left out: {program.name}: {reason}", file=sys.stderr)
    return able_ones


def compare(prefix: list[str], work: Path, runners: list[Program], rounds: int) -> list[Result]:
    """Ratios to the first, round by round; the rounds in which a peer failed are not in its row.

    What is not a peer, the floor and timens-*, must not fail at all.
    """
    rows = hold_race(prefix, work, [p.command for p in runners], rounds)
    by_round: dict[int, dict[int, int]] = {}
    for number, command, duration_ns, _, status in rows:
        name = runners[command].name
        if status == 0:
            by_round.setdefault(number, {})[command] = duration_ns
        elif name.startswith(("floor", "timens")):
            raise SystemExit(f"{name} failed in round {number}: status {status}")
        else:
            print(f"left out: {name}: round {number}: status {status}", file=sys.stderr)
    return [
        Result(
            program,
            [times[i] / times[0] for times in by_round.values() if i in times],
            statistics.median(times[i] for times in by_round.values() if i in times) / 1e6,
            max(row[3] for row in rows if row[1] == i),
        )
        for i, program in enumerate(runners)
    ]


def starts_per_second(prefix: list[str], work: Path, program: Program, workers: int) -> float:
    """Workers that start one container after the other.  A start that fails refuses the number."""
    script = 'for i in $(seq $1); do "$2" $3 1 <"$4" >"$4.$i" 2>"$4.$i.said" & done; wait'
    with tempfile.TemporaryDirectory(prefix="row-", dir=work) as name:
        folder = Path(name)
        folder.chmod(0o777)
        commands = folder / "commands"
        commands.write_text(program.command + "\n", encoding="utf-8")
        words = [str(workers), str(work / "bin/race"), str(STARTS_EACH), str(commands)]
        start = os.times().elapsed
        subprocess.run([*prefix, "sh", "-c", script, "sh", *words], check=True)
        elapsed_s = os.times().elapsed - start
        results = [folder / f"commands.{i}" for i in range(1, workers + 1)]
        statuses = [int(line.split()[4]) for r in results for line in r.read_text().splitlines()]
        failed = sum(status != 0 for status in statuses)
        if failed or len(statuses) != workers * STARTS_EACH:
            said = "".join((folder / f"{r.name}.said").read_text() for r in results).splitlines()
            reason = said[-1] if said else "it said nothing"
            raise RuntimeError(f"{failed} of {workers * STARTS_EACH} starts failed: {reason}")
        return workers * STARTS_EACH / elapsed_s


def rates(prefix: list[str], work: Path, runners: list[Program]) -> dict[str, list[float]]:
    """Starts per second with one and with two workers; who fails is told and left out."""
    found = {}
    for program in runners:
        if program.name.split(",")[0] not in IN_A_ROW:
            continue
        try:
            found[program.name] = [starts_per_second(prefix, work, program, n) for n in (1, 2)]
        except RuntimeError as error:
            print(f"no starts per second: {program.name}: {error}", file=sys.stderr)
    return found


def version(prefix: list[str], program: Program) -> str:
    words = program.command.split(" ")
    done = subprocess.run(
        [*prefix, words[0], "--version"], capture_output=True, text=True, check=False
    )
    numbers = [w.strip("(),+") for w in done.stdout.split() if w[:1].isdigit() or w[1:2].isdigit()]
    return numbers[0] if done.returncode == 0 and numbers else ""


@dataclass(frozen=True)
class Arm:
    """What one kind of user saw."""

    who: str
    versions: dict[str, str]
    results: dict[str, Result]
    rates: dict[str, list[float]]


def hold_arm(prefix: list[str], work: Path, who: str, rounds: int) -> Arm:
    runners = able(prefix, programs(work, rootless=who == "user"))
    results = {r.program.name: r for r in compare(prefix, work, runners, rounds)}
    versions = {program.name: version(prefix, program) for program in runners}
    return Arm(who, versions, results, rates(prefix, work, runners))


def cell(arm: Arm, name: str) -> str:
    if name not in arm.results:
        return "–"
    low, middle, high = statistics.quantiles(arm.results[name].ratios, n=4)
    return f"**{middle:.2f}** ({low:.2f} to {high:.2f})"


def table(arms: list[Arm]) -> str:
    """One line for each program, ratios and quartiles for each user, then starts per second."""
    names = list(dict.fromkeys(name for arm in arms for name in arm.results))
    users = " | ".join(arm.who for arm in arms)
    lines = [
        f"| program | namespaces | {users} | peak RSS, kB | |",
        "|---|---|" + "---|" * len(arms) + "---|---|",
    ]
    for name in names:
        arm = next(arm for arm in arms if name in arm.results)
        result = arm.results[name]
        cells = " | ".join(cell(arm, name) for arm in arms)
        lines.append(
            f"| {f'{name} {arm.versions[name]}'.strip()} | {result.program.namespaces} | {cells} |"
            f" {result.peak_kb} | {result.program.note} |"
        )
    floors = ", ".join(
        f"{arm.results['floor'].milliseconds:.2f} ms as {arm.who}"
        for arm in arms
        if "floor" in arm.results
    )
    lines += ["", f"The floor took {floors} (median). Starts per second, one and two workers:", ""]
    lines += ["| program | " + users + " |", "|---|" + "---|" * len(arms)]
    for name in names:
        pairs = [arm.rates.get(name) for arm in arms]
        if any(pairs):
            told = (f"{p[0]:.0f}, {p[1]:.0f}" if p else "–" for p in pairs)
            lines.append(f"| {name} | " + " | ".join(told) + " |")
    return "\n".join(lines) + "\n"


def machine(args: argparse.Namespace) -> str:
    release = (args.tree or Path("/")) / "etc/os-release"
    fields = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"Linux {platform.release()}, {os.cpu_count()} cores, programs of"
        f" {fields['PRETTY_NAME'].strip(chr(34))}, {args.rounds} rounds"
        f"{', all with a real-time priority' if args.real_time else ''}; load {load} at the end.\n"
    )


def prepare(work: Path) -> None:
    """The programs and the root in one folder, which can be bound into a tree as it is."""
    work.chmod(0o755)
    for name in ("state-root", "state-user", "runtime", "bin"):
        (work / name).mkdir()
    for name in ("state-user", "runtime"):
        os.chown(work / name, USER, USER)
    for program in ("launcher/timens-run", "bench/launch/floor", "bench/launch/race"):
        shutil.copy(BUILD / program, work / "bin")
    for who, uid in (("root", 0), ("user", USER)):
        root = work / f"rootfs-{who}"
        create = [BUILD / "bin/timens-rootfs", "create", root, "--from", "busybox"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)  # type: ignore[arg-type]
        subprocess.run(["chown", "-R", f"{uid}:{uid}", root], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--tree", type=Path, help="hold the race inside this root filesystem")
    parser.add_argument("--users", default="root,user", help="who starts: root, user or both")
    parser.add_argument("--real-time", action="store_true", help="where others use the machine")
    parser.add_argument("--write-table", action="store_true", help="fill docs/performance.md")
    args = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("run.py: root: other users are entered from it: Operation not permitted")
    arms = []
    with tempfile.TemporaryDirectory(prefix="timens-bench-", dir="/var/tmp") as name:
        work = Path(name)
        prepare(work)
        for who in args.users.split(","):
            prefix = enter_tree(args.tree.resolve(), work) if args.tree else hide_unified()
            prefix += REAL_TIME if args.real_time else FIRST
            arms.append(
                hold_arm(prefix + (as_user(work) if who == "user" else []), work, who, args.rounds)
            )
    text = machine(args) + "\n" + table(arms)
    print(text)
    if args.write_table:
        page.fill("make bench", text)


if __name__ == "__main__":
    main()
