# SPDX-License-Identifier: LGPL-2.1-or-later
"""What this host is and how busy it is: what two runs must share to be compared.

Everything is read from /proc and /sys; what this kernel does not tell is None, never guessed.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import platform
import re
from pathlib import Path
from typing import Any

CPU_FOLDER = Path("/sys/devices/system/cpu")
CLOCKSOURCE_FOLDER = Path("/sys/devices/system/clocksource/clocksource0")
PR_GET_TIMERSLACK = 30

# What stays the same from run to run on the same machine, kernel and settings.
STABLE = (
    "machine",
    "kernel",
    "kernel_build",
    "cmdline",
    "cpu",
    "cpus",
    "smt",
    "hypervisor",
    "clocksource",
    "mitigations",
    "governor",
    "turbo",
    "preempt",
    "aslr",
    "transparent_hugepages",
)


def read(path: Path | str) -> str | None:
    """The text of a file of the kernel, stripped; None when it is not there or not for us."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def chosen(text: str | None) -> str | None:
    """The bracketed word of a kernel list such as `always [madvise] never`."""
    found = re.search(r"\[(\S+)\]", text or "")
    return found.group(1) if found else None


def cpuinfo() -> dict[str, str]:
    """The first processor's fields in /proc/cpuinfo."""
    fields = {}
    for line in (read("/proc/cpuinfo") or "").splitlines():
        key, separator, value = line.partition(":")
        if not separator:
            break
        fields[key.strip()] = value.strip()
    return fields


def cpu() -> dict[str, str | None]:
    """Which processor; the names are x86's, and arm64's where it has others."""
    info = cpuinfo()
    return {
        "vendor": info.get("vendor_id") or info.get("CPU implementer"),
        "name": info.get("model name"),
        "family": info.get("cpu family") or info.get("CPU architecture"),
        "model": info.get("model") or info.get("CPU part"),
        "stepping": info.get("stepping") or info.get("CPU revision"),
        "microcode": info.get("microcode"),
    }


def hypervisor() -> str | None:
    """Whose guest we are; None on bare metal."""
    names = [read("/sys/hypervisor/type"), read("/sys/class/dmi/id/sys_vendor")]
    under = "hypervisor" in cpuinfo().get("flags", "").split()
    if not under and names[0] is None:
        return None
    return next((name for name in names if name), "unnamed")


def governor() -> str | None:
    """The frequency governor; None where the host does not let us see one."""
    return read(CPU_FOLDER / "cpu0/cpufreq/scaling_governor")


def turbo() -> bool | None:
    """Whether the processor may go above its nominal frequency."""
    intel = read(CPU_FOLDER / "intel_pstate/no_turbo")
    if intel is not None:
        return intel == "0"
    boost = read(CPU_FOLDER / "cpufreq/boost")
    return None if boost is None else boost == "1"


def clocksource() -> dict[str, Any]:
    """The clock that the vDSO and the kernel read."""
    available = read(CLOCKSOURCE_FOLDER / "available_clocksource")
    return {
        "current": read(CLOCKSOURCE_FOLDER / "current_clocksource"),
        "available": available.split() if available else [],
    }


def mitigations() -> dict[str, str]:
    """The kernel's answer to each weakness of the processor; they cost every system call."""
    folder = CPU_FOLDER / "vulnerabilities"
    if not folder.is_dir():
        return {}
    return {p.name: read(p) or "" for p in sorted(folder.iterdir())}


def steal_ticks() -> int:
    """Time that the hypervisor gave to somebody else since boot, all CPUs, in USER_HZ ticks."""
    fields = (read("/proc/stat") or "").split("\n", 1)[0].split()
    return int(fields[8]) if len(fields) > 8 else 0


def peak_memory_kb() -> int:
    """Most memory that this program had at any time.  Not ru_maxrss: that one begins with what
    the parent had when it forked."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", read("/proc/self/status") or "", re.MULTILINE)
    return int(found.group(1)) if found else 0


def timer_slack_ns() -> int:
    """How late a timer of this process may be; timens-bench sets its own to 1 ns."""
    return int(ctypes.CDLL(None).prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))


def describe() -> dict[str, Any]:
    """The `host` object of environment.json."""
    uname = os.uname()
    about: dict[str, Any] = {
        "name": uname.nodename,
        "machine": uname.machine,
        "kernel": uname.release,
        "kernel_build": uname.version,
        "cmdline": read("/proc/cmdline"),
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME"),
        "cpu": cpu(),
        "cpus": os.cpu_count(),
        "mhz": cpuinfo().get("cpu MHz"),
        "smt": read(CPU_FOLDER / "smt/control"),
        "hypervisor": hypervisor(),
        "governor": governor(),
        "turbo": turbo(),
        "clocksource": clocksource(),
        "mitigations": mitigations(),
        "preempt": chosen(read("/sys/kernel/debug/sched/preempt")),
        "aslr": read("/proc/sys/kernel/randomize_va_space"),
        "transparent_hugepages": chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "rt_runtime_us": read("/proc/sys/kernel/sched_rt_runtime_us"),
        "timer_slack_ns": timer_slack_ns(),
        "cgroup": read("/proc/self/cgroup"),
        "load": list(os.getloadavg()),
        "uptime": read("/proc/uptime"),
        "steal_ticks": steal_ticks(),
        "uid": os.getuid(),
    }
    about["fingerprint"] = fingerprint(about)
    return about


def fingerprint(about: dict[str, Any]) -> str:
    """Twelve hex digits that two runs share when the host was the same."""
    stable = {key: about.get(key) for key in STABLE}
    text = json.dumps(stable, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()[:12]
