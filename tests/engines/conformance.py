# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run runtime-tools' validation programs against one runtime and count what they say.

usage: python3 tests/engines/conformance.py [--view v1|v2|hybrid] [--only NAME] RUNTIME...
"""

import argparse
import json
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

import machine

RUNTIMES = {
    "timens-oci": "/opt/timens/bin/timens-oci",
    "crun": "/usr/bin/crun",
    "runc": "/usr/sbin/runc",
}
PROGRAM_TIMEOUT_S = 40
INSIDE = "/opt/timens/suites"


@dataclass(frozen=True)
class Verdict:
    """What one validation program said of one runtime."""

    name: str
    status: int
    passed: int
    failures: tuple[str, ...] = field(default=())
    output: str = ""

    @property
    def good(self) -> bool:
        """It ended well, and no line of its TAP report is a failure."""
        return self.status == 0 and not self.failures


def judge(name: str, status: int, output: str) -> Verdict:
    """Count the lines of a TAP report (testanything.org)."""
    lines = [line.strip() for line in output.splitlines()]
    failures = tuple(line for line in lines if line.startswith("not ok"))
    passed = sum(line.startswith("ok") for line in lines)
    return Verdict(name, status, passed, failures, output)


def programs() -> list[str]:
    """Names of all validation programs."""
    helpers = {"runtimetest", "rootfs-amd64.tar.gz"}
    return sorted(p.name for p in machine.build_suites().iterdir() if p.name not in helpers)


def validate(host: machine.Machine, runtime: str, name: str) -> Verdict:
    """One program, in a mount namespace of its own: some of them leak mounts."""
    path = slow_kill(runtime) if name == HASTY else RUNTIMES[runtime]
    inner = f"cd {INSIDE} && RUNTIME={path} timeout -k 2 {PROGRAM_TIMEOUT_S} ./{name}"
    done = host.run(f"unshare -m sh -c '{inner}' 2>&1", timeout_s=PROGRAM_TIMEOUT_S + 20)
    return judge(name, done.returncode, done.stdout)


# killsig sends a signal as soon as `start` is back, but a shell needs time to set its trap: a quick
# runtime sends it too early, and to PID 1 without a handler it is as if never sent.
HASTY = "killsig"
SLOW_KILL = """#!/bin/sh
for word; do [ "$word" != kill ] || sleep 0.5; done
exec RUNTIME "$@"
"""


def slow_kill(runtime: str) -> str:
    """The path of a script that waits before each kill, the same for every runtime."""
    return f"{INSIDE}/{runtime}.slow"


def install_suites(host: machine.Machine) -> None:
    """Copy the programs into the machine: they unpack their root beside themselves."""
    relative = machine.build_suites().relative_to(machine.SOURCE)
    done = host.run(f"cp -a /opt/timens/source/{relative} {INSIDE}")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    for runtime, path in RUNTIMES.items():
        script = shlex.quote(SLOW_KILL.replace("RUNTIME", path))
        done = host.run(f"echo {script} >{slow_kill(runtime)} && chmod +x {slow_kill(runtime)}")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description="validation programs per runtime")
    parser.add_argument("runtimes", nargs="+", choices=sorted(RUNTIMES))
    parser.add_argument("--view", default="v1", choices=("v1", "v2", "hybrid"))
    parser.add_argument("--only", help="one program")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", type=Path, help="write all verdicts")
    args = parser.parse_args()

    names = [args.only] if args.only else programs()
    verdicts: dict[str, list[Verdict]] = {runtime: [] for runtime in args.runtimes}
    with machine.Machine(args.view) as host:
        install_suites(host)
        for name in names:
            for runtime in args.runtimes:
                verdict = validate(host, runtime, name)
                verdicts[runtime].append(verdict)
                print(f"{runtime:11s} {'pass' if verdict.good else 'FAIL'} {name}", flush=True)
                if args.verbose and not verdict.good:
                    print(verdict.output)
    for runtime, told in verdicts.items():
        good = sum(v.good for v in told)
        silent = sum(v.good and v.passed == 0 for v in told)
        print(f"{runtime}: {good} pass ({silent} of them assert nothing), {len(told) - good} fail")
    if args.json:
        plain = {
            r: {v.name: [v.good, v.passed, *v.failures] for v in vs} for r, vs in verdicts.items()
        }
        args.json.write_text(json.dumps(plain, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
