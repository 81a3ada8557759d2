# SPDX-License-Identifier: LGPL-2.1-or-later
"""All experiments of a folder as one page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from timens_analysis.lab import anatomy, clocksource, loops, tsc_clock, vdso_used, warp
from timens_analysis.lab.articles import EC2, GERRY, MORLE
from timens_analysis.lab.data import Data, clock_source
from timens_analysis.report.document import Commands, Document, Items, Section, Text

TITLE = "What it costs to read the time"
LEAD = (
    "Between 2012 and 2023 articles asked why reading the time was slow, where the calls had gone"
    " from strace, and whether a program should keep a clock of its own. These are their"
    " experiments, done again on the machine below, and one of our own: which part of a container"
    " costs what."
)
# In the order in which the page is read.
EXPERIMENTS: Mapping[str, tuple[str, Callable[[Data], Section]]] = {
    "vdso-used": (vdso_used.TITLE, vdso_used.section),
    "loops": (loops.TITLE, loops.section),
    "clocksource": (clocksource.TITLE, lambda data: clocksource.section(data, data.host)),
    "warp": (warp.TITLE, warp.section),
    "tsc-clock": (tsc_clock.TITLE, tsc_clock.section),
    "anatomy": (anatomy.TITLE, anatomy.section),
}


def document(found: Mapping[str, Data | None], host: Mapping[str, Any]) -> Document:
    """`found` holds what was measured; what was not says how to measure it."""
    sections = [section(name, found.get(name), host) for name in EXPERIMENTS]
    measured = {name: data for name, data in found.items() if data is not None}
    about = Section("The machine", [Items(list(_machine(measured, host)))])
    again = Section(
        "Measure it again",
        [
            Commands(
                list(dict.fromkeys(shlex.join(d.about["argv"]) for d in measured.values()))
                or ["timens-study lab all"]
            )
        ],
    )
    return Document(TITLE, LEAD, [*sections, about, again])


def section(name: str, data: Data | None, host: Mapping[str, Any]) -> Section:
    """One experiment, measured, refused or not asked for."""
    title, make = EXPERIMENTS[name]
    if name == "clocksource" and data is None:
        return clocksource.section(None, host)
    if data is None:
        return Section(title, [Text(f"Not measured: `timens-study lab {name}`.")])
    refused = data.of("refused")
    if refused and not data.runs and "strace_calls" not in refused[0]:
        return Section(title, [Text(f"Not here: {refused[0]['refused']}.")])
    return make(data)


def _machine(measured: Mapping[str, Data], host: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    cpu = host["cpu"]
    yield "Processor", f"{cpu['name']} (family {cpu['family']}, model {cpu['model']})"
    yield "CPUs", str(host["cpus"])
    yield "Kernel", str(host["kernel"])
    yield "Guest of", str(host["hypervisor"] or "nobody")
    yield "Clock source", f"{clock_source(host)} of {', '.join(host['clocksource']['available'])}"
    weak = [name for name, said in host["mitigations"].items() if said.startswith("Mitigation")]
    yield "Mitigations in force", ", ".join(weak) or "none"
    for name, data in measured.items():
        load = data.host["load"][0]
        quick = ", only a first look (--quick)" if data.about["quick"] else ""
        yield name, f"{data.about['started']}, load {load:.1f} before it{quick}"
    yield "Articles", f"{EC2}, and its translation; {MORLE}; {GERRY}"
