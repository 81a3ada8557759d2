# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recompute a published table from its n, means and SDs, and say which cells do not follow.

Printed numbers are rounded, so nothing is compared to a single number: each statistic is computed
for the smallest and largest values that could have been printed so, and a cell agrees when it lies
in that range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

from timens_analysis.paper import recover
from timens_analysis.paper.published import Cell, PrintedMetric, PrintedPair
from timens_analysis.stats import omnibus, studentized_range
from timens_analysis.stats.describe import Summary, Test
from timens_analysis.stats.pairs import Pair, games_howell, tukey, welch_se

Kind = Literal["slip", "note"]
POST_HOC = {"Welch": "Games-Howell", "ANOVA": "Tukey"}
MOST_CORNERS = 5  # levels: beyond, 2^(2k-1) tables a metric would be too many
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Range:
    """What a statistic can be, given how the table was rounded."""

    low: float
    centre: float
    high: float

    def fits(self, cell: Cell | None) -> bool:
        return cell is None or cell.holds(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Omnibus:
    f: Range
    df1: float
    df2: Range
    p: Range

    def fits_all_but_f(self, df2: Cell | None, p: Cell | None) -> bool:
        return self.df2.fits(df2) and self.p.fits(p)


@dataclass(frozen=True, slots=True)
class PairAudit:
    printed: PrintedPair
    recomputed: dict[str, Pair]  # "Games-Howell" and "Tukey"
    fits: tuple[str, ...]  # the methods that all printed cells follow from


@dataclass(frozen=True, slots=True)
class Finding:
    kind: Kind
    metric: str
    text: str


@dataclass(frozen=True, slots=True)
class MetricAudit:
    printed: PrintedMetric
    summaries: dict[str, Summary]
    tests: dict[str, Omnibus]  # "Welch" and "ANOVA"
    pairs: tuple[PairAudit, ...]
    findings: tuple[Finding, ...]

    @property
    def agrees(self) -> bool:
        return not any(finding.kind == "slip" for finding in self.findings)

    def overhead(self, level: str) -> float:
        """Percent over the first level, from the means, or differences, as printed."""
        first = self.printed.levels[0]
        return 100 * (self.summaries[level].mean / self.summaries[first.name].mean - 1)


def audit_metric(printed: PrintedMetric) -> MetricAudit:
    """All that follows from one metric's n, means and SDs, and what does not."""
    findings = _differences(printed)
    means = _means(printed)
    exact = recover.whole_records(printed)
    centre = _likeliest(printed, exact) if exact else _centre(printed, means)
    summaries = {level.name: s for level, s in zip(printed.levels, centre, strict=True)}
    tests = _omnibus_ranges([centre, *(exact or _corners(printed, means))])
    pairs = tuple(_audit_pairs(printed, means, summaries))
    findings += _judge_omnibus(printed, tests)
    findings += _judge_pairs(printed, pairs)
    findings += _judge_choice(printed, summaries)
    return MetricAudit(printed, summaries, tests, pairs, tuple(findings))


def _means(printed: PrintedMetric) -> dict[str, Range]:
    """Means by their printed differences to the first level, which have more digits.

    Only differences count in every test; the first level's rounding shifts all alike.
    """
    first = printed.levels[0]
    origin = first.mean.value
    ranges = {first.name: Range(origin, origin, origin)}
    for level in printed.levels[1:]:
        cell, sign = _difference(printed, level.name, first.name)
        if cell is not None:
            centre = origin + sign * cell.value
            ranges[level.name] = Range(centre - cell.half, centre, centre + cell.half)
        else:
            half = level.mean.half + first.mean.half
            centre = level.mean.value
            ranges[level.name] = Range(centre - half, centre, centre + half)
    return ranges


def _difference(printed: PrintedMetric, i: str, j: str) -> tuple[Cell | None, int]:
    if (pair := printed.pair(i, j)) is not None:
        return pair.diff, 1
    if (pair := printed.pair(j, i)) is not None:
        return pair.diff, -1
    return None, 1


def _differences(printed: PrintedMetric) -> list[Finding]:
    """Do the printed differences follow from the printed means?"""
    means = {level.name: level.mean for level in printed.levels}
    found = []
    for pair in printed.pairs:
        if pair.diff is None:
            continue
        centre = means[pair.i].value - means[pair.j].value
        half = means[pair.i].half + means[pair.j].half
        if not pair.diff.holds(centre - half, centre + half):
            text = f"{pair.i} - {pair.j}: {pair.diff.text} is printed, the means give {centre:.4g}"
            found.append(Finding("slip", printed.name, text))
    return found


def _centre(printed: PrintedMetric, means: dict[str, Range]) -> list[Summary]:
    return [Summary(x.n, means[x.name].centre, x.sd.value) for x in printed.levels]


def _likeliest(printed: PrintedMetric, tables: list[list[Summary]]) -> list[Summary]:
    """The one that comes nearest to the printed F cell, whichever number stands in it."""
    cell = printed.test.f
    if cell is None:
        return tables[0]

    def distance(table: list[Summary]) -> float:
        results = (omnibus.welch(table), omnibus.anova(table))
        return min(abs(cell.value - x) for r in results for x in (r.statistic, r.df2 or 0.0))

    return min(tables, key=distance)


def _omnibus_ranges(tables: Sequence[list[Summary]]) -> dict[str, Omnibus]:
    found = {}
    for name, test in (("Welch", omnibus.welch), ("ANOVA", omnibus.anova)):
        results = [test(table) for table in tables]
        found[name] = Omnibus(
            _spread([r.statistic for r in results]),
            results[0].df1 or 0.0,
            _spread([r.df2 or 0.0 for r in results]),
            _spread([r.p for r in results]),
        )
    return found


def _corners(printed: PrintedMetric, means: dict[str, Range]) -> list[list[Summary]]:
    """Tables with every mean and SD at one end of what rounding allows."""
    choices = []
    for level in printed.levels:
        mean, sd = means[level.name], level.sd
        ends = sorted({mean.low, mean.high})
        spreads = (max(sd.value - sd.half, 1e-300), sd.value + sd.half)
        choices.append([Summary(level.n, m, s) for m in ends for s in spreads])
    if len(choices) <= MOST_CORNERS:
        return [list(table) for table in itertools.product(*choices)]
    return [[choice[0] for choice in choices], [choice[-1] for choice in choices]]


def _spread(values: Sequence[float]) -> Range:
    return Range(min(values), values[0], max(values))


def _audit_pairs(
    printed: PrintedMetric, means: dict[str, Range], summaries: dict[str, Summary]
) -> list[PairAudit]:
    recomputed = {"Games-Howell": games_howell(summaries), "Tukey": tukey(summaries)}
    audits = []
    for pair in printed.pairs:
        tests = {
            name: next(t for t in found if {t.i, t.j} == {pair.i, pair.j})
            for name, found in recomputed.items()
        }
        tests = {name: _turned(t) if t.i != pair.i else t for name, t in tests.items()}
        fits = tuple(name for name, t in tests.items() if _pair_fits(printed, pair, t, means, name))
        audits.append(PairAudit(pair, tests, fits))
    return audits


def _turned(t: Pair) -> Pair:
    return Pair(t.j, t.i, -t.diff, t.se, t.df, t.p, -t.high, -t.low)


def _pair_fits(
    printed: PrintedMetric, pair: PrintedPair, t: Pair, means: dict[str, Range], method: str
) -> bool:
    """Limits and p between what the smallest and the largest SDs and differences give."""
    k = len(printed.levels)
    diffs = (means[pair.i].low - means[pair.j].high, means[pair.i].high - means[pair.j].low)
    if pair.diff is not None:  # printed itself, it is known better than as a sum of two
        diffs = (pair.diff.value - pair.diff.half, pair.diff.value + pair.diff.half)
    thin, thick = (_se(printed, pair, method, side) for side in (-1, 1))
    reach = (t.high - t.diff) / t.se
    low = Range(diffs[0] - reach * thick, t.low, diffs[1] - reach * thin)
    high = Range(diffs[0] + reach * thin, t.high, diffs[1] + reach * thick)
    nearest = 0.0 if diffs[0] <= 0 <= diffs[1] else min(map(abs, diffs))
    p = Range(
        studentized_range.survival(max(map(abs, diffs)) / thin * math.sqrt(2), k, t.df),
        t.p,
        studentized_range.survival(nearest / thick * math.sqrt(2), k, t.df),
    )
    return low.fits(pair.low) and high.fits(pair.high) and p.fits(pair.p)


def _se(printed: PrintedMetric, pair: PrintedPair, method: str, side: int) -> float:
    """Standard error with all SDs at one end of their rounding."""
    groups = {
        level.name: Summary(level.n, 0.0, max(level.sd.value + side * level.sd.half, 1e-300))
        for level in printed.levels
    }
    if method == "Games-Howell":
        return welch_se(groups[pair.i], groups[pair.j])[0]
    df = sum(g.n for g in groups.values()) - len(groups)
    within = sum((g.n - 1) * g.variance for g in groups.values()) / df
    return math.sqrt(within * (1 / groups[pair.i].n + 1 / groups[pair.j].n))


def _judge_omnibus(printed: PrintedMetric, tests: dict[str, Omnibus]) -> list[Finding]:
    cells = printed.test
    if cells.f is None:
        return []
    declared = [cells.name] if cells.name in tests else list(tests)
    if any(
        tests[n].f.fits(cells.f) and tests[n].fits_all_but_f(cells.df2, cells.p) for n in declared
    ):
        return []
    found = []
    for name in declared:
        test = tests[name]
        if test.df2.fits(cells.f) and test.fits_all_but_f(cells.df2, cells.p):
            text = (
                f"the F column holds df2: {cells.f.text} is printed and df2 is"
                f" {test.df2.centre:.2f}; {name}'s F is {test.f.centre:.2f}"
            )
            return [Finding("slip", printed.name, text)]
        for what, cell, value in (
            ("F", cells.f, test.f),
            ("df2", cells.df2, test.df2),
            ("p", cells.p, test.p),
        ):
            if cell is not None and not value.fits(cell):
                text = (
                    f"{name}'s {what}: {cell.text} is printed, the means and SDs give"
                    f" {value.centre:.4g} (between {value.low:.4g} and {value.high:.4g})"
                )
                found.append(Finding("slip", printed.name, text))
    return found


def _judge_pairs(printed: PrintedMetric, pairs: Sequence[PairAudit]) -> list[Finding]:
    declared = POST_HOC.get(printed.test.name)
    common = set.intersection(*(set(pair.fits) for pair in pairs)) if pairs else set()
    found = []
    if declared is not None and common and declared not in common:
        other = common.pop()
        text = (
            f"marked {printed.test.name}, but its post hoc numbers are {other}'s, not {declared}'s"
        )
        found.append(Finding("slip", printed.name, text))
    elif pairs and (not common or (declared is None and len(common) > 2)):
        wanted = {declared} if declared else set(POST_HOC.values())
        found += [
            Finding("slip", printed.name, _misfit(pair, declared or "Games-Howell"))
            for pair in pairs
            if not wanted & set(pair.fits)
        ]
    for pair in pairs:
        found += _judge_mark(printed.name, pair.printed)
    return found


def _misfit(pair: PairAudit, method: str) -> str:
    t, p = pair.recomputed[method], pair.printed
    cells = " ".join(cell.text if cell else "-" for cell in (p.low, p.high, p.p))
    return (
        f"{p.i} - {p.j}: limits and p {cells} are printed, {method} gives"
        f" {t.low:.4g} {t.high:.4g} {t.p:.3g}"
    )


def _judge_mark(metric: str, pair: PrintedPair) -> list[Finding]:
    """Do the mark, p and the interval tell the same story?"""
    said = {}
    if pair.significant is not None:
        said["the mark"] = pair.significant
    if pair.p is not None:
        said["p"] = pair.p.value < ALPHA or (pair.p.bound == "<" and pair.p.value <= ALPHA)
    if pair.low is not None and pair.high is not None:
        said["the interval"] = not pair.low.value <= 0 <= pair.high.value
    if len(set(said.values())) < 2:
        return []
    told = ", ".join(f"{who} {'does' if yes else 'does not'}" for who, yes in said.items())
    return [Finding("slip", metric, f"{pair.i} - {pair.j}: not all say that it differs: {told}")]


def _judge_choice(printed: PrintedMetric, summaries: dict[str, Summary]) -> list[Finding]:
    """A classic ANOVA where the SDs are too different for it (a note: it is no slip)."""
    if printed.test.name != "ANOVA":
        return []
    test = bartlett(list(summaries.values()))
    if test.p >= 0.001:
        return []
    spreads = [s.sd for s in summaries.values()]
    text = (
        f"classic ANOVA although the SDs differ by a factor of {max(spreads) / min(spreads):.2f}"
        f" (Bartlett p = {test.p:.1e})"
    )
    return [Finding("note", printed.name, text)]


def bartlett(groups: Sequence[Summary]) -> Test:
    """Equality of variances from summaries: Bartlett, Proc. R. Soc. A 160 (1937), 268-282."""
    k, total = len(groups), sum(g.n for g in groups)
    pooled = sum((g.n - 1) * g.variance for g in groups) / (total - k)
    chi2 = (total - k) * math.log(pooled) - sum((g.n - 1) * math.log(g.variance) for g in groups)
    chi2 /= 1 + (sum(1 / (g.n - 1) for g in groups) - 1 / (total - k)) / (3 * (k - 1))
    return Test(chi2, float(stats.chi2.sf(chi2, k - 1)), k - 1)
