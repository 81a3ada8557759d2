# SPDX-License-Identifier: LGPL-2.1-or-later
"""From results to a page: which sections there are, in which order, and what they say."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from timens_analysis import text
from timens_analysis.figures import forest, samples
from timens_analysis.model import Run
from timens_analysis.paper.reproduce import reproduce
from timens_analysis.report import tables
from timens_analysis.report.document import (
    Block,
    Commands,
    Document,
    Figures,
    Items,
    Section,
    Text,
)
from timens_analysis.results import Analysis, MetricResult
from timens_analysis.threats import threats


def run_document(run: Run, analysis: Analysis, report_command: Sequence[str]) -> Document:
    """The report of a study."""
    rows = reproduce(analysis.metrics, analysis.options)
    counts = Counter(row.verdict for row in rows)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    sections = [
        Section("In short", [Items(list(_summary(analysis)))]),
        Section("Effects", _effects(analysis)),
    ]
    if rows:
        paper = f"Pairs of levels: {told}. Other machine, other instrument: sizes may differ."
        sections.append(Section("Beside the paper", [Text(paper), tables.reproductions(rows)]))
    sections += [
        Section(
            "Threats to validity", [Items([(t.subject, t.text) for t in threats(run, analysis)])]
        ),
        *_tables(analysis),
        *_plots(analysis.metrics),
        Section("How this was measured", [Items(list(_conduct(run)))]),
        Section("Reproduce", _reproduce(run, report_command)),
    ]
    lead = (
        f"Run `{run.name}`: {_arms(run)}; {run.conduct.records} records,"
        f" {len(run.metrics)} metrics. The process is the unit: one value for each level, block"
        " and metric, the median over short batches."
    )
    return Document("What virtual time costs", lead, sections)


def samples_document(analysis: Analysis, files: Sequence[Path]) -> Document:
    """The answer of `timens-study test`."""
    names = ", ".join(f"`{path.name}`" for path in files)
    sections = [Section("Effects", _effects(analysis)), *_tables(analysis)]
    return Document("Tests", f"Samples of {names}.", sections)


def _summary(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """For each level against the baseline: which metrics got which verdict."""
    words: dict[str, dict[str, list[str]]] = {}
    for result in analysis.metrics:
        baseline = result.metric.levels[0].name
        for pair in result.pairs:
            if pair.j == baseline:
                words.setdefault(pair.i, {}).setdefault(pair.verdict.word, []).append(
                    _with_size(result, pair.i)
                )
    for level, verdicts in words.items():
        said = "; ".join(f"{word}: {', '.join(names)}" for word, names in verdicts.items())
        yield f"{level} against the baseline", said
    aa = [r for r in analysis.metrics if r.aa is not None]
    if aa:
        slower = [r.metric.name for r in aa if r.aa and r.aa.verdict.word in ("slower", "faster")]
        yield (
            "The baseline against itself",
            f"differs in {', '.join(slower)}" if slower else "no metric differs",
        )
    yield "Reading", "“inconclusive” and “not significant” never mean that there is no difference"


def _with_size(result: MetricResult, level: str) -> str:
    pair = next(p for p in result.pairs if p.i == level)
    if pair.verdict.word in ("slower", "faster") and pair.paired and pair.paired.percent:
        return f"`{result.metric.name}` {text.signed(pair.paired.percent.estimate, 2)} %"
    return f"`{result.metric.name}`"


def _effects(analysis: Analysis) -> list[Block]:
    blocks: list[Block] = []
    overview = forest.overview(analysis.metrics, analysis.options.margin_percent)
    if overview is not None:
        blocks.append(Figures([overview], everywhere=True))
    table = tables.effects(analysis)
    if table.rows:
        blocks.append(table)
    return blocks


def _tables(analysis: Analysis) -> Iterator[Section]:
    blocks: list[Block] = []
    if analysis.options.method == "paper":
        gates = [(r.metric.name, r.gate) for r in analysis.metrics if r.gate]
        blocks.append(Text("The paper's choice of test, metric by metric:"))
        blocks.append(Items(gates))
    yield Section("Means, as in the paper's Table IV", [*blocks, tables.means(analysis)])
    yield Section("Samples", [tables.assumptions(analysis)])
    if analysis.problems:
        told = [("", str(problem)) for problem in analysis.problems]
        yield Section("What could not be tested, and why", [Items(told)])


def _plots(results: Sequence[MetricResult]) -> Iterator[Section]:
    yield Section("Metric by metric", [Figures([])])
    for result in results:
        made = (
            forest.of_metric(result),
            samples.distribution(result),
            samples.quantiles(result),
            samples.run_order(result),
        )
        sheets = [sheet for sheet in made if sheet is not None]
        yield Section(result.metric.name, [Figures(sheets)] if sheets else [], level=3)


def _arms(run: Run) -> str:
    return ", ".join(arm["name"] for arm in run.environment["arms"])


def _conduct(run: Run) -> Iterator[tuple[str, str]]:
    environment, conduct = run.environment, run.conduct
    host = environment.get("host", {})
    cpu = host.get("cpu")
    clock = host.get("clocksource")
    yield "Host", str(host.get("name", text.NONE))
    yield "Kernel", str(host.get("kernel", text.NONE))
    yield "CPU", str(cpu.get("name") if isinstance(cpu, dict) else cpu or text.NONE)
    yield "Clock source", str(clock.get("current") if isinstance(clock, dict) else clock)
    yield "Started", str(environment.get("started", text.NONE))
    yield "Profile", str(environment.get("profile", text.NONE))
    design = str(environment.get("design"))
    named = {
        "blocks": "randomised complete blocks",
        "sequential": "level after level (as the paper)",
    }
    yield "Design", f"{named.get(design, design)}, seed {environment['seed']}"
    yield "Blocks", f"{conduct.blocks_complete} complete of {conduct.blocks_planned}"
    yield (
        "Counter",
        f"{environment.get('clock_source_of_ticks')}, {environment['ns_per_tick']} ns per tick",
    )
    yield "timens-bench", f"sha256 `{environment.get('bench_sha256', text.NONE)}`"
    yield "timens-study", str(environment.get("tool_version", text.NONE))
    for arm in environment["arms"]:
        command = shlex.join(arm["command"]) or "on the host"
        yield f"Arm {arm['name']}", f"`{command}`"


def _reproduce(run: Run, report_command: Sequence[str]) -> list[Block]:
    return [
        Text("Measure again with the same seed, then make this report:"),
        Commands([shlex.join(run.environment["argv"]), shlex.join(report_command)]),
    ]
