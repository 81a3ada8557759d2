# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of the report: one function each, from results to cells."""

from __future__ import annotations

from collections.abc import Sequence

from timens_analysis import text
from timens_analysis.paper.reproduce import NOT_COMPARABLE, REPRODUCED, Reproduction
from timens_analysis.report.document import Cell, Column, Table
from timens_analysis.results import Analysis, MetricResult, PairResult, Verdict
from timens_analysis.text import Scale

NAME = Column("Metric", numeric=False)
EMPTY = Cell(text.NONE)


def effects(analysis: Analysis) -> Table:
    """Paired: what each level costs, block by block."""
    options = analysis.options
    level = f"{100 * options.confidence:g} %"
    columns = (
        NAME,
        Column("Level I", numeric=False),
        Column("Level J", "what it is compared to", numeric=False),
        Column("Median J", "middle of the per-process values of level J"),
        Column(
            f"I − J [{level} CI]",
            "median of the differences within blocks, with its bootstrap interval; never narrower"
            " than one step of the counter",
        ),
        Column(
            f"Relative [{level} CI]",
            "median of the relative differences within blocks; of a sleep, relative to the whole"
            " call, requested time included",
        ),
        Column("p (Wilcoxon)", "signed-rank test of the differences"),
        Column("p (Holm)", "the same, adjusted over all metrics: this one decides"),
        Column(
            "MDE (80 %)", "smallest true difference that this run would have found in 4 of 5 cases"
        ),
        Column(
            f"Verdict (δ = {options.margin_percent:g} %)",
            "equivalent: both one-sided tests against ±δ pass; inconclusive: neither a difference"
            " nor its absence is shown",
            numeric=False,
        ),
    )
    rows = []
    for result in analysis.metrics:
        for pair in (*result.pairs, *([result.aa] if result.aa else [])):
            if pair.paired is not None:
                rows.append(_effect_row(result, pair))
    return Table("Effects within blocks", columns, rows, explain=True)


def _effect_row(result: MetricResult, pair: PairResult) -> list[Cell]:
    scale, paired = Scale(result), pair.paired
    assert paired is not None
    reference = next(x for x in result.levels if x.name == pair.j)
    percent = paired.percent
    return [
        Cell(result.metric.name),
        Cell(pair.i),
        Cell(pair.j),
        Cell(f"{scale.value(reference.median)} {scale.unit}", reference.median),
        Cell(f"{scale.interval(paired.median)} {scale.unit}", paired.median.estimate),
        Cell(text.interval(percent, 2, " %"), percent.estimate if percent else None),
        Cell(text.p_value(paired.wilcoxon.p), paired.wilcoxon.p),
        Cell(text.p_value(paired.p_holm), paired.p_holm),
        Cell(text.percent(paired.detectable_percent), paired.detectable_percent),
        verdict_cell(pair.verdict),
    ]


def means(analysis: Analysis) -> Table:
    """Table IV of the paper, with what it should have had."""
    options = analysis.options
    post_hoc = "post hoc" if options.method == "paper" else "Games–Howell"
    level = f"{100 * options.confidence:g} %"
    columns = (
        NAME,
        Column("Test", "the omnibus test: do the levels differ at all", numeric=False),
        Column("F"),
        Column("df1"),
        Column("df2"),
        Column("p"),
        Column(f"p (Holm, {len(analysis.metrics)})", "adjusted over the metrics"),
        Column("ω²", "share of the variance that the levels explain, of Welch's F or ANOVA's"),
        Column("Level I", numeric=False),
        Column("Level J", numeric=False),
        Column("Mean ± SD, I"),
        Column("Mean ± SD, J"),
        Column("I − J", "difference of the means"),
        Column(f"{level} CI ({post_hoc})", "holds for all pairs of a metric together"),
        Column(f"p ({post_hoc})"),
        Column(f"Relative difference [{level} CI]", "of the means; limits by Fieller's theorem"),
        Column(f"Hedges g [{level} CI]", "difference in pooled SDs; limits: noncentral t"),
        Column("Equivalent within", "smallest margin that TOST would accept, % of the first level"),
        Column("MDE (80 %)", "minimum detectable effect, % of the first level"),
        Column(f"Verdict (δ = {options.margin_percent:g} %)", numeric=False),
    )
    rows = [
        [*_omnibus_cells(result), *_mean_cells(result, pair)]
        for result in analysis.metrics
        for pair in result.pairs
    ]
    parts = (tuple(range(8)), (0, *range(8, len(columns))))
    return Table("Means compared, as in the paper's Table IV", columns, rows, True, 8, parts)


def _omnibus_cells(result: MetricResult) -> list[Cell]:
    test = result.omnibus_test
    if test is None:
        return [Cell(result.metric.name), *[EMPTY] * 7]
    p_holm, omega2 = result.omnibus_p_holm, result.omega2
    return [
        Cell(result.metric.name),
        Cell(result.omnibus),
        Cell(text.statistic(test.statistic), test.statistic),
        Cell(text.df(test.df1), test.df1),
        Cell(text.df(test.df2), test.df2),
        Cell(text.p_value(test.p), test.p),
        Cell(text.p_value(p_holm), p_holm),
        Cell(text.NONE if omega2 is None else f"{omega2:.3f}", omega2),
    ]


def _mean_cells(result: MetricResult, pair: PairResult) -> list[Cell]:
    scale = Scale(result)
    levels = {x.name: x for x in result.levels}
    i, j = levels[pair.i], levels[pair.j]
    cells = [
        Cell(pair.i),
        Cell(pair.j),
        Cell(scale.mean_sd(i.mean, i.sd), i.mean),
        Cell(scale.mean_sd(j.mean, j.sd), j.mean),
    ]
    found = pair.independent
    if found is None:
        return [*cells, *[EMPTY] * 7, verdict_cell(pair.mean_verdict)]
    test = found.test
    low, high = (text.signed(x / scale.factor, scale.digits) for x in (test.low, test.high))
    return [
        *cells,
        Cell(f"{text.signed(test.diff / scale.factor, scale.digits)} {scale.unit}", test.diff),
        Cell(f"[{low}, {high}]", test.low),
        Cell(text.p_value(test.p), test.p),
        Cell(
            text.interval(found.percent, 2, " %"), found.percent.estimate if found.percent else None
        ),
        Cell(text.interval(found.hedges_g), found.hedges_g.estimate),
        Cell(text.percent(found.equivalent_within_percent), found.equivalent_within_percent),
        Cell(text.percent(found.detectable_percent), found.detectable_percent),
        verdict_cell(pair.mean_verdict),
    ]


def assumptions(analysis: Analysis) -> Table:
    """Levels one by one, and whether the tests on means suit them."""
    columns = (
        NAME,
        Column("Level", numeric=False),
        Column("n", "processes; each gives one value"),
        Column("Median"),
        Column("Mean ± SD"),
        Column("Min"),
        Column("Max"),
        Column("Shapiro–Wilk W", "1 for a perfectly normal sample"),
        Column("p (normal)", "below α: not normal"),
        Column("Levene W", "centred at the median, over the levels of the metric"),
        Column("p (equal variances)", "below α: variances differ"),
        Column("Friedman χ²", "do levels differ within blocks at all"),
        Column("p (Holm, Friedman)"),
    )
    rows = []
    for result in analysis.metrics:
        scale, levene = Scale(result), result.levene.get(analysis.options.levene)
        for x in result.levels:
            shapiro = x.shapiro
            rows.append(
                [
                    Cell(result.metric.name),
                    Cell(x.name),
                    Cell(str(x.n), x.n),
                    Cell(f"{scale.value(x.median)} {scale.unit}", x.median),
                    Cell(scale.mean_sd(x.mean, x.sd), x.mean),
                    Cell(scale.value(x.low), x.low),
                    Cell(scale.value(x.high), x.high),
                    Cell(f"{shapiro.statistic:.4f}" if shapiro else text.NONE),
                    Cell(text.p_value(shapiro.p if shapiro else None)),
                    Cell(text.statistic(levene.statistic if levene else None)),
                    Cell(text.p_value(levene.p if levene else None)),
                    Cell(text.statistic(result.friedman.statistic if result.friedman else None)),
                    Cell(text.p_value(result.friedman_p_holm)),
                ]
            )
    return Table("Samples and assumptions", columns, rows, explain=True, grouped=1)


def reproductions(rows: Sequence[Reproduction]) -> Table:
    """The paper's effects beside ours."""
    columns = (
        NAME,
        Column("Level I", numeric=False),
        Column("Level J", numeric=False),
        Column("Paper", "relative difference of the printed means"),
        Column("p, paper", "as printed; – where no post hoc test was made"),
        Column("Here [CI]"),
        Column("p, here (Holm)"),
        Column("Verdict", numeric=False),
        Column("Reason", numeric=False),
    )
    marks = {REPRODUCED: "good", NOT_COMPARABLE: "warn"}
    cells = [
        [
            Cell(row.metric),
            Cell(row.i),
            Cell(row.j),
            Cell(f"{text.signed(row.paper_percent, 2)} %", row.paper_percent),
            Cell(row.paper_p or text.NONE),
            Cell(text.interval(row.ours, 2, " %"), row.ours.estimate if row.ours else None),
            Cell(text.p_value(row.our_p), row.our_p),
            Cell(row.verdict, mark=marks.get(row.verdict, "bad")),
            Cell(row.reason),
        ]
        for row in rows
    ]
    return Table("The paper's Table IV beside this run", columns, cells, grouped=1)


def verdict_cell(verdict: Verdict) -> Cell:
    """The word, and why it was refused."""
    mark = "bad" if verdict.refused else "warn" if verdict.word == "inconclusive" else ""
    return Cell(f"{verdict.word}: {verdict.reason}" if verdict.reason else verdict.word, mark=mark)
