# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs compared, as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from timens_analysis import text
from timens_analysis.conclusions import AGREE, CONTRADICT, OPEN, Conclusion
from timens_analysis.model import Run
from timens_analysis.report.document import (
    Block,
    Cell,
    Column,
    Commands,
    Document,
    Items,
    Section,
    Table,
    Text,
)
from timens_analysis.runs import NOT_SIGNIFICANT, Change, EffectOverRuns, Unlike

METRIC = Column("Metric", numeric=False)
LEVEL = Column("Level", numeric=False)
MARKS = {AGREE: "", OPEN: "warn", CONTRADICT: "bad"}


def document(
    runs: Sequence[Run],
    differences: Mapping[str, Sequence[Unlike]],
    changes: Sequence[Change],
    effects: Sequence[EffectOverRuns],
    concluded: Sequence[Conclusion],
    fail_over: float | None,
    command: str,
) -> Document:
    names = ", ".join(f"`{run.name}`" for run in runs)
    lead = f"Runs {names}; the first is what the others are compared to."
    sections = [
        Section("Hosts", _hosts(differences)),
        Section("Conclusions", _conclusions(runs, concluded)),
        Section("Levels", [*_verdict(changes, fail_over), _changes(changes)]),
        Section("Effects", [_effects(runs, effects)]),
    ]
    if any(effect.pooled for effect in effects):
        sections.append(Section("Over all runs", _pooled(effects, len(runs))))
    sections.append(Section("Reproduce", [Commands([command])]))
    return Document("Runs compared", lead, sections)


def _hosts(differences: Mapping[str, Sequence[Unlike]]) -> list[Block]:
    rows = [
        [Cell(run), Cell(d.key), Cell(d.first), Cell(d.other)]
        for run, found in differences.items()
        for d in found
    ]
    if not rows:
        return [Text("All fingerprints are alike: host, kernel, settings, binary and design.")]
    columns = [Column(t, numeric=False) for t in ("Run", "What", "First run", "This run")]
    return [
        Text("These runs were made under unlike conditions and compared all the same:"),
        Table("Differences of the fingerprints", tuple(columns), rows, grouped=1),
    ]


def _conclusions(runs: Sequence[Run], concluded: Sequence[Conclusion]) -> list[Block]:
    counts = {
        word: sum(c.together == word for c in concluded) for word in (AGREE, OPEN, CONTRADICT)
    }
    told = (
        f"Of {len(concluded)} effects the {len(runs)} runs agree on {counts[AGREE]}, conclude in"
        f" part of the runs only on {counts[OPEN]}, and contradict each other on"
        f" {counts[CONTRADICT]}."
    )
    rows = [
        [
            Cell(c.metric),
            Cell(c.level),
            *map(Cell, c.words),
            Cell(c.together, mark=MARKS[c.together]),
        ]
        for c in concluded
        if c.together != AGREE
    ]
    if not rows:
        return [Text(told)]
    named = tuple(Column(run.name, numeric=False) for run in runs)
    columns = (METRIC, LEVEL, *named, Column("Runs", numeric=False))
    return [Text(told), Table("Where not all runs conclude the same", columns, rows)]


def _verdict(changes: Sequence[Change], fail_over: float | None) -> list[Block]:
    if fail_over is None:
        return []
    over = [str(change) for change in changes if change.over]
    if not over:
        return [Text(f"No level is shown to be more than {fail_over:g} % slower.")]
    return [Items([("", f"more than {fail_over:g} % slower: {name}") for name in over])]


def _changes(changes: Sequence[Change]) -> Table:
    columns = (
        METRIC,
        LEVEL,
        Column("Run", numeric=False),
        Column("Median before (ns)", "of the first run; of a sleep, the whole call"),
        Column("Median after (ns)"),
        Column("Change [95 % CI]", "of the medians, bootstrap over processes"),
        Column("p", "Mann-Whitney"),
        Column("p (Holm)", "adjusted over the metrics of one level"),
        Column("Verdict", numeric=False),
    )
    rows = []
    for c in changes:
        marks = {"slower": "bad", "faster": "good"}
        digits = text.decimals(c.before, 2)
        word = f"{c.word}, over the limit" if c.over else c.word
        rows.append(
            [
                Cell(c.metric),
                Cell(c.level),
                Cell(c.run),
                Cell(f"{c.before:.{digits}f}"),
                Cell(f"{c.after:.{digits}f}"),
                Cell(text.interval(c.percent, 2, " %"), c.percent.estimate if c.percent else None),
                Cell(text.p_value(c.p), c.p),
                Cell(text.p_value(c.p_holm), c.p_holm),
                Cell(word, mark=marks.get(c.word, "")),
            ]
        )
    return Table("Has a level changed", columns, rows, explain=True)


def _effects(runs: Sequence[Run], effects: Sequence[EffectOverRuns]) -> Table:
    columns = (
        METRIC,
        LEVEL,
        *(Column(f"Effect, {run.name} [95 % CI]") for run in runs),
        Column("Last − first [95 % CI]", "percentage points"),
        Column("p (Holm)"),
        Column("Verdict", numeric=False),
    )
    rows = [
        [
            Cell(e.metric),
            Cell(e.level),
            *(Cell(text.interval(i, 2, " %"), i.estimate if i else None) for i in e.effects),
            Cell(text.interval(e.difference), e.difference.estimate if e.difference else None),
            Cell(text.p_value(e.p_holm), e.p_holm),
            Cell(e.word, mark="" if e.word == NOT_SIGNIFICANT else "warn"),
        ]
        for e in effects
    ]
    return Table("Has an effect changed (each against the baseline of its run)", columns, rows)


def _pooled(effects: Sequence[EffectOverRuns], runs: int) -> list[Block]:
    columns = (
        METRIC,
        LEVEL,
        Column("Runs"),
        Column("Mean effect [95 % CI]", "random effects: Paule-Mandel, Hartung-Knapp"),
        Column("p", "that the mean effect over hosts is 0"),
        Column("Next host [95 %]", "where the effect of one more host would lie; from 3 runs on"),
        Column("τ", "SD of the true effects between hosts, percentage points"),
        Column("I²", "share of the observed variance that is between hosts"),
    )
    rows = []
    for e in effects:
        if e.pooled is None:
            continue
        p = e.pooled
        rows.append(
            [
                Cell(e.metric),
                Cell(e.level),
                Cell(str(p.hosts)),
                Cell(text.interval(p.mean, 2, " %"), p.mean.estimate),
                Cell(text.p_value(p.p), p.p),
                Cell(text.interval(p.next_host, 2, " %") if p.next_host else text.NONE),
                Cell(f"{p.tau:.2f}", p.tau),
                Cell(f"{100 * p.i2:.0f} %", p.i2),
            ]
        )
    table = Table("Random-effects summary", columns, rows, explain=True)
    few = "With so few runs, how hosts differ is hardly known: the intervals say so by their width."
    return [Text(few), table] if runs < 5 else [table]
