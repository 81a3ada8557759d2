# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the page says of rows whose truth is known; nothing is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from timens_analysis.lab import anatomy, clocksource, loops, tsc_clock, vdso_used, warp
from timens_analysis.lab.data import Data
from timens_analysis.model import Conduct, Level, Metric, Run
from timens_analysis.report import markdown
from timens_analysis.report.document import Document, Section, Table
from timens_analysis.results import Paired

BLOCKS = 20
HOST = {
    "clocksource": {"current": "tsc", "available": ["tsc", "hpet"]},
    "hypervisor": None,
}


def text_of(section: Section) -> str:
    return markdown.render(Document("", "", [section]))


def warp_row(name: str, warps: int, handovers: int = 3000) -> dict[str, Any]:
    return {
        "warp": name,
        "cpus": [0, 1],
        "reads": 10**6,
        "handovers": handovers,
        "warps": warps,
        "worst": 77 if warps else 0,
        "unit": "ns",
    }


def test_warps_of_the_unordered_counter_are_no_fault() -> None:
    said = warp.verdict([warp_row(warp.UNORDERED, 500), warp_row("counter", 0)])

    assert said == (
        "No clock went backwards in 3 000 handovers between the CPUs 0, 1: with 95 %"
        " confidence, fewer than one in 1 000 do."
    )


def test_a_clock_that_warps_is_named() -> None:
    rows = [warp_row(warp.UNORDERED, 500), warp_row("counter", 0), warp_row("monotonic", 1)]

    assert warp.verdict(rows) == (
        "Clocks went backwards: monotonic. Do not trust this clock source."
    )
    page = text_of(warp.section(Data({}, rows)))
    assert "500 (artefact)" in page
    assert "| monotonic | 1 000 000 | 3 000 | 1 | 77 ns |" in page


def test_without_a_handover_nothing_is_said() -> None:
    assert warp.verdict([warp_row("counter", 0, handovers=0)]).startswith(
        "The CPUs never handed a reading over"
    )


def loop_rows(ratio: float, rounds: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    rows = []
    for number in range(rounds):
        for route, ns in (("vdso", 25.0), ("raw", 25.0 * ratio), ("coarse", 3.0)):
            ticks = (ns * 1000 * (1 + rng.normal(0, 0.01, 100))).round().astype(int).tolist()
            rows.append(
                {
                    **{"loop": route, "calls": 100_000, "slice_calls": 1000, "round": number},
                    **{"real_ns": sum(ticks), "user_us": 1, "sys_us": 0, "slice_ticks": ticks},
                }
            )
    return rows


def test_the_slowdown_is_found_with_an_interval_around_it() -> None:
    interval = loops.slowdown(loop_rows(4.5, 15), 100_000)

    assert interval is not None
    assert interval.low <= 4.5 <= interval.high
    assert interval.high - interval.low < 0.05


def test_few_rounds_have_no_interval() -> None:
    assert loops.slowdown(loop_rows(4.5, 5), 100_000) is None


def test_a_loop_in_parts_is_their_sum_and_has_an_interval_over_them() -> None:
    rows = [
        {**row, "calls": 10_000, "part": row["round"], "parts": 10, "slice_calls": 100}
        for row in loop_rows(4.5, 10)
    ]

    interval = loops.slowdown(rows, 100_000)
    section = loops.section(Data({"ns_per_tick": 1.0, "host": {}}, rows))
    (times,) = [t for t in section.blocks if isinstance(t, Table) and "Here" in t.caption]

    assert interval is not None
    assert interval.low <= 4.5 <= interval.high
    vdso = [cell.text for cell in times.rows[0]]
    assert vdso[:3] == ["100 000", "vDSO", f"{sum(r['real_ns'] for r in rows[::3]) / 1e9:.3f}"]
    assert vdso[7] == "10 parts of one process"


def metric(name: str, host_ns: float, **added: float) -> Metric:
    rng = np.random.default_rng(2)
    blocks = np.arange(BLOCKS)
    spell = rng.normal(0, 0.1, BLOCKS)  # what all arms of a block have in common

    def level(arm: str, ns: float) -> Level:
        return Level(arm, host_ns + ns + spell + rng.normal(0, 0.01, BLOCKS), blocks, blocks)

    levels = (level("baseline", 0.0), *(level(arm, ns) for arm, ns in added.items()))
    return Metric(name, levels, aa=level("baseline_aa", 0.0))


def run_of(*metrics: Metric) -> Run:
    names = [level.name for level in metrics[0].levels]
    arms = [{"name": name, "namespaces": {"user": "user:[1]"}} for name in names]
    return Run(Path("x"), {"arms": arms}, metrics, Conduct(1, 0, {}, BLOCKS, BLOCKS))


def test_each_clock_source_has_its_costs_and_what_a_time_namespace_adds() -> None:
    runs = {
        "tsc": run_of(
            metric("vdso_clock_gettime_monotonic", 25.0, timens=0.8),
            metric("clock_gettime_monotonic", 170.0, timens=0.0),
        ),
        "hpet": run_of(
            metric("vdso_clock_gettime_monotonic", 900.0, timens=0.0),
            metric("clock_gettime_monotonic", 880.0, timens=0.0),
        ),
    }
    section = clocksource.section(Data({"host": HOST}, [], runs), HOST)
    said = text_of(section)

    assert "with `tsc` 25.0 ns (in user space)" in said
    assert "with `hpet` 900.0 ns (by system call)" in said
    assert "- **acpi_pm:**" in said
    assert "- **hpet:**" not in said
    table = next(block for block in section.blocks if isinstance(block, Table))
    row = next(r for r in table.rows if r[0].text == "`vdso_clock_gettime_monotonic`")
    assert row[2].sort == pytest.approx(0.8, abs=0.02)
    assert row[4].sort == pytest.approx(0.0, abs=0.02)


def test_a_piece_is_the_difference_of_its_two_arms_and_nothing_else() -> None:
    one = metric("getppid", 100.0, seccomp=26.0, memcg_root=-50.0)
    found = {
        piece.name: anatomy.difference(one, piece.inside, piece.host)
        for piece in anatomy.pieces(anatomy.MEMCG_ROOT)
        if piece.name in ("seccomp filter", "memory cgroup")
    }
    size = {name: f.median.estimate for name, f in found.items() if isinstance(f, Paired)}

    assert size["seccomp filter"] == pytest.approx(26.0, abs=0.02)
    assert size["memory cgroup"] == pytest.approx(50.0, abs=0.02)
    again = anatomy.difference(one, "baseline_aa", "baseline")
    assert isinstance(again, Paired)
    assert again.median.low < 0 < again.median.high


def test_where_memory_is_not_accounted_the_piece_is_what_accounting_adds() -> None:
    by_name = {piece.name: piece for piece in anatomy.pieces(anatomy.MEMCG_OWN)}

    assert (by_name["memory cgroup"].inside, by_name["memory cgroup"].host) == (
        "memcg_own",
        "baseline",
    )
    assert "memory cgroup" not in {piece.name for piece in anatomy.pieces(None)}


def test_without_root_a_filter_is_compared_with_a_user_namespace_alone() -> None:
    def arms(beside: str) -> set[tuple[str, str]]:
        return {(piece.inside, piece.host) for piece in anatomy.pieces(None, beside)}

    assert arms("baseline") == {
        ("timens", "baseline"),
        ("userns", "baseline"),
        ("seccomp", "baseline"),
    }
    assert arms("userns") == {("timens", "userns"), ("userns", "baseline"), ("seccomp", "userns")}


def test_the_smallest_piece_comes_from_its_own_blocks_beside_its_own_noise() -> None:
    arms = dict.fromkeys(anatomy.ARMS, 0.0)
    runs = {
        "anatomy": run_of(metric("timer_create", 400.0, **{**arms, "userns": 50.0})),
        "fine": run_of(metric("timer_create", 400.0, userns=2.5)),
    }
    section = anatomy.section(Data({"memory_arm": None}, [], runs))

    table = next(b for b in section.blocks if isinstance(b, Table))
    (row,) = [r for r in table.rows if r[0].text == "user-namespace accounting"]
    assert row[3].sort == pytest.approx(2.5, abs=0.02)
    assert row[5].sort == pytest.approx(0.0, abs=0.02)
    assert "it has 20 blocks of its own" in text_of(section)


STRACE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 99.20    0.004388           4      1000           gettimeofday
  0.80    0.000010           5         2         1 clock_gettime
------ ----------- ----------- --------- --------- ----------------
100.00    0.004398           4      1002         1 total
"""


def test_straces_table_is_read_with_and_without_errors() -> None:
    assert vdso_used.strace_counts(STRACE) == {"gettimeofday": 1000, "clock_gettime": 2}
    assert vdso_used.strace_counts("") == {}


def test_a_reading_that_could_have_stayed_outside_was_asked_of_the_kernel_directly() -> None:
    probes = [
        {"vdso_used": "clock_gettime", "clock": "CLOCK_MONOTONIC", "reason": None},
        {"vdso_used": "clock_gettime", "clock": "CLOCK_TAI", "reason": "clock_source"},
    ]

    def why(clock: str | None, clock_id: int) -> str:
        tally = {"system_call": "clock_gettime", "clock": clock, "clock_id": clock_id}
        return vdso_used.why_of(tally, probes)

    assert why("CLOCK_MONOTONIC", 1) == vdso_used.DIRECT
    assert why("CLOCK_TAI", 11) == vdso_used.REASONS["clock_source"]
    assert why(None, -6) == vdso_used.REASONS["cpu_time_clock"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.25, "125 %"), (0.02, "2 %"), (58e-6, "58 ppm"), (19e-9, "19 ppb")],
)
def test_an_error_of_frequency_is_told_in_a_fitting_unit(share: float, text: str) -> None:
    assert tsc_clock.told(share) == text
