# SPDX-License-Identifier: LGPL-2.1-or-later
"""What speaks against believing a run: made from what doctor found, from how the measuring went,
from the A/A arm and from the controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from timens_analysis import verdict
from timens_analysis.model import Run
from timens_analysis.results import Analysis, MetricResult

# Each of these, unequal between arms, is worth more than the effect that is looked for.
HELD_EQUAL = {
    "cgroup": "memory accounting alone makes timer_create and timerfd_create 11 to 26 % slower",
    "scheduler": "preemption falls on the arms unequally",
    "cpus": "the arms ran on different processors",
    "seccomp_mode": "a filter costs every system call tens of nanoseconds",
    "binary_sha256": "another build of the same source differs by a percent",
}
FEW_BLOCKS = 20
DISTURBED_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Threat:
    subject: str
    text: str


def threats(run: Run, analysis: Analysis) -> list[Threat]:
    """The most serious first: design, controls, arms, conduct, host, statistics."""
    return [
        *_design(run),
        *_self_difference(analysis),
        *_controls(analysis),
        *_arms(run),
        *_conduct(run),
        *_host(run),
        *_statistics(run, analysis),
    ]


def _design(run: Run) -> Iterator[Threat]:
    if run.environment.get("design") == "sequential":
        yield Threat(
            "design",
            "levels were measured one after another, each in one process: drift and the luck of a"
            " process count as effects. Equal levels are called different far more often than the"
            " significance level says (`timens-study aa` counts it)",
        )
    if all(metric.aa is None for metric in run.metrics):
        yield Threat("A/A", "there is no second baseline: nothing shows how often noise is seen")


def _self_difference(analysis: Analysis) -> Iterator[Threat]:
    """The A/A arm: said when it is clean as well, for that is what trust rests on."""
    tested = [r for r in analysis.metrics if r.aa is not None and verdict.p_value(r.aa) is not None]
    if not tested:
        return
    alpha = analysis.options.alpha
    least = verdict.refusal_alpha(analysis.metrics, analysis.options)
    differ = [r.metric.name for r in tested if (verdict.p_value(r.aa) or 0) < least]  # type: ignore[arg-type]
    raw = sum(_raw_p(result) < alpha for result in tested)
    text = (
        f"the baseline against itself: {raw} of {len(tested)} metrics differ at {alpha:g}"
        f" (about {alpha * len(tested):.1f} are expected by chance),"
    )
    if differ:
        yield Threat(
            "A/A", f"{text} and after Holm still {', '.join(differ)}: their verdicts are refused"
        )
    else:
        yield Threat("A/A", f"{text} none at {least:.2g} after Holm")


def _raw_p(result: MetricResult) -> float:
    assert result.aa is not None
    if result.aa.paired is not None:
        return result.aa.paired.wilcoxon.p
    return result.aa.independent.test.p if result.aa.independent is not None else 1.0


def _controls(analysis: Analysis) -> Iterator[Threat]:
    alpha = analysis.options.alpha
    least = verdict.refusal_alpha(analysis.metrics, analysis.options)
    kinds = {result.metric.control for result in analysis.metrics}
    if "negative" not in kinds:
        yield Threat("controls", "no negative control was measured: nothing that must not move")
    for result in analysis.metrics:
        baseline = result.metric.levels[0].name
        for pair in result.pairs:
            p = verdict.p_value(pair)
            if pair.j != baseline or p is None:
                continue
            name = result.metric.name
            if result.metric.control == "negative" and p < least:
                filtered = pair.i in result.metric.control_not_in
                text = f"negative control {name} moved in {pair.i} (Holm p = {p:.2g})"
                if filtered:
                    text += "; that arm has a seccomp filter, which slows every system call"
                else:
                    text += ": the verdicts of this arm are refused"
                yield Threat("controls", text)
            if result.metric.control == "positive" and p >= alpha:
                yield Threat(
                    "controls",
                    f"positive control {name} did not move in {pair.i} (Holm p = {p:.2g}): the"
                    " arm has no time namespace, or this run sees too little",
                )


def _arms(run: Run) -> Iterator[Threat]:
    arms = run.environment["arms"]
    for key, why in HELD_EQUAL.items():
        seen = {arm["name"]: arm[key] for arm in arms if key in arm}
        if len({str(value) for value in seen.values()}) > 1:
            listed = ", ".join(f"{name}: {value}" for name, value in seen.items())
            yield Threat("arms", f"{key} is not the same in all arms ({listed}); {why}")


def _conduct(run: Run) -> Iterator[Threat]:
    conduct = run.conduct
    if conduct.cut_off:
        yield Threat("records", "the last record was cut off and is left out")
    if conduct.blocks_complete < conduct.blocks_planned:
        yield Threat(
            "records",
            f"{conduct.blocks_complete} of {conduct.blocks_planned} blocks are complete; the rest"
            " is used where both levels of a pair were measured",
        )
    if conduct.remeasured:
        yield Threat(
            "records",
            f"{conduct.remeasured} of {conduct.records} records were disturbed and measured again;"
            " all are kept in the file, the last attempt counts",
        )
    for flag, count in sorted(conduct.flags.items()):
        if count > DISTURBED_SHARE * conduct.records:
            yield Threat("records", f"{count} of {conduct.records} records are flagged '{flag}'")


def _host(run: Run) -> Iterator[Threat]:
    for finding in run.environment.get("findings", []):
        if finding.get("level") != "good":
            yield Threat(_subject(finding), _finding(finding))


def _subject(finding: Mapping[str, Any]) -> str:
    return f"host, {finding.get('check', 'check')}"


def _finding(finding: Mapping[str, Any]) -> str:
    advice = finding.get("advice")
    text = str(finding.get("found", finding))
    return f"{text} ({advice})" if advice else text


def _statistics(run: Run, analysis: Analysis) -> Iterator[Threat]:
    smallest = min(
        (level.values.size for metric in run.metrics for level in metric.levels), default=0
    )
    if smallest < FEW_BLOCKS:
        yield Threat(
            "sample",
            f"{smallest} processes a level: only large effects can be found, see the column of the"
            " minimum detectable effect",
        )
    skewed = sum(
        any(x.shapiro is not None and x.shapiro.p < analysis.options.alpha for x in r.levels)
        for r in analysis.metrics
    )
    if skewed:
        yield Threat(
            "normality",
            f"Shapiro-Wilk rejects normality in {skewed} of {len(analysis.metrics)} metrics:"
            " believe medians and Wilcoxon there before means and Games-Howell",
        )
    if analysis.options.margin_percent != 1.0:
        yield Threat(
            "margin",
            f"the margin of {analysis.options.margin_percent:g} % was given when the report was"
            " made; it counts only if it was fixed before the data were seen",
        )
