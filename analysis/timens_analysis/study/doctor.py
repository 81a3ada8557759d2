# SPDX-License-Identifier: LGPL-2.1-or-later
"""What on this host would spoil a measurement, and what to do about it."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from timens_analysis.study import host, programs, scheduling, vdso

# good: nothing to do; note: changes what the numbers mean; warning: makes them worse;
# problem: the study cannot be done like this.
Level = Literal["good", "note", "warning", "problem"]

FAST_CLOCKSOURCES = ("tsc", "arch_sys_counter")
PARAVIRTUAL_CLOCKSOURCES = ("kvm-clock", "xen", "hyperv_clocksource_tsc_page")
BUSY_LOAD_PER_CPU = 0.25
STEAL_SAMPLE_S = 0.5
LEAST_FILES = 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was found, and what a person can do; no advice when all is well."""

    check: str
    level: Level
    found: str
    advice: str | None = None


def clocksource() -> Finding:
    """The counter behind every clock: a slow one leaves no vDSO to measure."""
    current = host.clocksource()["current"]
    if current in FAST_CLOCKSOURCES:
        return Finding("clocksource", "good", current)
    if current in PARAVIRTUAL_CLOCKSOURCES:
        return Finding(
            "clocksource",
            "note",
            current,
            "its own cost hides part of the namespace's; compare only with hosts that use it too",
        )
    return Finding(
        "clocksource",
        "warning",
        str(current),
        "the vDSO may have to ask the kernel; if tsc is listed in available_clocksource, choose it",
    )


def vdso_in_use() -> Finding:
    """Without the vDSO, the three vdso_ metrics would measure system calls."""
    answers = vdso.answers(programs.find("timens-bench"))
    if answers is None:
        return Finding("vdso", "note", "cannot be found out", "seccomp is not available here")
    if answers:
        return Finding("vdso", "good", "answers CLOCK_MONOTONIC (clock_gettime was forbidden)")
    return Finding(
        "vdso",
        "warning",
        "clock_gettime enters the kernel",
        "look at the clock source, and at vdso=0 on the kernel command line",
    )


def governor() -> Finding:
    """A frequency that changes is a unit that changes."""
    name = host.governor()
    if name is None:
        return Finding(
            "governor", "note", "not visible", "normal in a guest; the frequency canary watches"
        )
    if name == "performance":
        return Finding("governor", "good", name)
    return Finding("governor", "warning", name, "cpupower frequency-set --governor performance")


def turbo() -> Finding:
    """Turbo frequencies depend on temperature and on the neighbours' load."""
    on = host.turbo()
    if on is None:
        return Finding(
            "turbo", "note", "not visible", "normal in a guest; the frequency canary watches"
        )
    if not on:
        return Finding("turbo", "good", "off")
    switch = "intel_pstate/no_turbo" if (host.CPU_FOLDER / "intel_pstate").is_dir() else ""
    advice = (
        f"echo 1 > /sys/devices/system/cpu/{switch}" if switch else "echo 0 > .../cpufreq/boost"
    )
    return Finding("turbo", "warning", "on", advice)


def smt() -> Finding:
    """Two threads of a core share its units."""
    state = host.read(host.CPU_FOLDER / "smt/control")
    if state == "on":
        return Finding(
            "smt",
            "note",
            "on",
            "keep the other thread of the measuring core idle (echo off > .../cpu/smt/control)",
        )
    return Finding("smt", "good", state or "no")


def mitigations() -> Finding:
    """They cost every system call, and two kernels differ in them."""
    active = [n for n, text in host.mitigations().items() if text.startswith("Mitigation")]
    open_ones = [n for n, text in host.mitigations().items() if text.startswith("Vulnerable")]
    found = f"{len(active)} active" + (f", vulnerable to {', '.join(open_ones)}" * bool(open_ones))
    return Finding(
        "mitigations", "note", found, "recorded: compare only hosts with the same mitigations"
    )


def load() -> Finding:
    """Other work on the same CPUs."""
    one, cpus = os.getloadavg()[0], os.cpu_count() or 1
    found = f"{one:.1f} on {cpus} CPUs"
    if one <= BUSY_LOAD_PER_CPU * cpus:
        return Finding("load", "good", found)
    return Finding(
        "load", "warning", found, "stop other work; the design bears it, with wider intervals"
    )


def steal() -> Finding:
    """CPU time that the hypervisor gave to somebody else."""
    before = host.steal_ticks()
    time.sleep(STEAL_SAMPLE_S)
    stolen = (host.steal_ticks() - before) / os.sysconf("SC_CLK_TCK")
    found = f"{stolen / STEAL_SAMPLE_S:.0%} of the last {STEAL_SAMPLE_S} s"
    if stolen == 0:
        return Finding("steal", "good", found)
    return Finding("steal", "warning", found, "the host of this guest is busy: measure later")


def memory_cgroup() -> Finding:
    """In a memory cgroup the kernel charges each timer and file: 11 to 26 % on their creation."""
    for line in (host.read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(",") or (controllers == "" and path != "/"):
            where = path if path == "/" else f"not in the root: {path}"
            return Finding(
                "memory cgroup",
                "good" if path == "/" else "note",
                where,
                None
                if path == "/"
                else "all arms share it; timer_create and timerfd_create cost more",
            )
    return Finding("memory cgroup", "good", "root")


def timer_slack() -> Finding:
    """How late a sleeper may be woken; timens-bench sets its own to 1 ns."""
    return Finding("timer slack", "good", f"{host.timer_slack_ns()} ns here, 1 ns in timens-bench")


def virtualisation() -> Finding:
    """In a guest, time is also the hypervisor's."""
    name = host.hypervisor()
    if name is None:
        return Finding("virtualisation", "good", "none")
    return Finding(
        "virtualisation",
        "note",
        f"guest of {name}" if name != "unnamed" else "a guest",
        "recorded: say so with every number",
    )


def realtime() -> Finding:
    """SCHED_FIFO keeps other work off the measuring CPU."""
    chosen = scheduling.choose(None)
    if chosen.fifo:
        return Finding("scheduler", "good", f"{chosen.policy} is allowed")
    return Finding(
        "scheduler",
        "warning",
        f"SCHED_FIFO is {chosen.why_not}",
        "run as root, or give yourself RLIMIT_RTPRIO (rtprio in limits.conf)",
    )


def cpus() -> Finding:
    """One CPU measures, another one collects."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) > 1:
        return Finding("cpus", "good", f"{len(allowed)} allowed, the last one measures")
    return Finding("cpus", "warning", "one", "the collector disturbs what it collects: use two")


def time_namespaces() -> Finding:
    """Without them there is nothing to study."""
    if Path("/proc/self/timens_offsets").exists():
        return Finding("time namespaces", "good", "supported")
    return Finding(
        "time namespaces", "problem", "not in this kernel", "Linux 5.6 with CONFIG_TIME_NS"
    )


def user_namespaces() -> Finding:
    """What an unprivileged user needs for all the others."""
    if os.geteuid() == 0:
        return Finding("user namespaces", "good", "we are root")
    if host.read("/proc/sys/user/max_user_namespaces") == "0":
        return Finding(
            "user namespaces", "problem", "none allowed", "sysctl user.max_user_namespaces=10000"
        )
    if host.read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return Finding(
            "user namespaces",
            "problem",
            "restricted by AppArmor",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root",
        )
    return Finding("user namespaces", "good", "allowed")


def open_files() -> Finding:
    """timerfd_create keeps a batch of files open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= LEAST_FILES:
        return Finding("open files", "good", str(soft))
    return Finding("open files", "warning", str(soft), f"ulimit -n {LEAST_FILES}")


CHECKS: tuple[Callable[[], Finding], ...] = (
    clocksource,
    vdso_in_use,
    time_namespaces,
    user_namespaces,
    realtime,
    cpus,
    load,
    steal,
    governor,
    turbo,
    smt,
    mitigations,
    memory_cgroup,
    timer_slack,
    virtualisation,
    open_files,
)


def examine() -> list[Finding]:
    """All checks, in the order in which they matter."""
    return [check() for check in CHECKS]


def worst(findings: list[Finding]) -> Level:
    """The most serious level among them."""
    order: Mapping[Level, int] = {"good": 0, "note": 1, "warning": 2, "problem": 3}
    return max((finding.level for finding in findings), key=order.__getitem__)
