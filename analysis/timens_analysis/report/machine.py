# SPDX-License-Identifier: LGPL-2.1-or-later
"""An analysis as JSON and CSV, in full precision.  What is not known is null, never nan."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from timens_analysis import blocks
from timens_analysis.results import Analysis, Independent, MetricResult, Paired, PairResult
from timens_analysis.stats.describe import Interval, Test
from timens_analysis.stats.pairs import Pair

_COLUMNS = """
    metric unit i_level j_level i_n i_mean i_sd i_median j_n j_mean j_sd j_median
    omnibus statistic df1 df2 p p_holm omega2
    blocks median_diff median_ci_lower median_ci_upper
    median_percent median_percent_ci_lower median_percent_ci_upper
    wilcoxon_p wilcoxon_p_holm paired_detectable_percent
    mean_diff mean_ci_lower mean_ci_upper post_hoc_p post_hoc_p_holm
    percent percent_ci_lower percent_ci_upper hedges_g g_ci_lower g_ci_upper
    tost_p equivalent_within_percent detectable_percent verdict_by_means
    friedman_chi2 friedman_p friedman_p_holm verdict reason
"""
CSV_COLUMNS = _COLUMNS.split()


def as_dict(result: MetricResult) -> dict[str, Any]:
    """One metric; the keys of the reference checker first, what goes beyond it after them."""
    return {
        "metric": result.metric.name,
        "unit": result.metric.unit,
        "descriptives": {
            x.name: {
                "n": x.n,
                "mean": x.mean,
                "sd": x.sd,
                "median": x.median,
                "min": x.low,
                "max": x.high,
            }
            for x in result.levels
        },
        "shapiro": {
            x.name: {"W": x.shapiro.statistic, "p": x.shapiro.p}
            for x in result.levels
            if x.shapiro is not None
        },
        "levene": {c: {"W": t.statistic, "p": t.p} for c, t in result.levene.items()},
        "anova": _test(result.anova),
        "welch": _test(result.welch),
        "games_howell": [_post_hoc(pair) for pair in result.games_howell],
        "tukey": [_post_hoc(pair) for pair in result.tukey],
        "friedman": result.friedman
        and {
            "chi2": result.friedman.statistic,
            "df": result.friedman.df1,
            "p": result.friedman.p,
            "p_holm": result.friedman_p_holm,
        },
        "omnibus": {
            "test": result.omnibus or None,
            "p_holm": result.omnibus_p_holm,
            "omega2": result.omega2,
            "gate": result.gate or None,
        },
        "pairs": [_pair(pair) for pair in result.pairs],
        "aa": result.aa and _pair(result.aa),
    }


def analysis_dict(analysis: Analysis) -> dict[str, Any]:
    options = analysis.options
    return {
        "options": {
            "method": options.method,
            "levene": options.levene,
            "margin_percent": options.margin_percent,
            "alpha": options.alpha,
            "seed": options.seed,
        },
        "metrics": [as_dict(result) for result in analysis.metrics],
        "problems": [
            {"metric": p.metric, "level": p.level, "text": p.text} for p in analysis.problems
        ],
    }


def csv_text(analysis: Analysis) -> str:
    """A row for each metric and pair of levels, the A/A pair too; numbers as Python prints them,
    so that reading them back gives the same bits."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for result in analysis.metrics:
        for pair in (*result.pairs, *([result.aa] if result.aa else [])):
            row = _row(result, pair)
            writer.writerow({k: "" if v is None else v for k, v in row.items()})
    return out.getvalue()


def values_csv(results: Sequence[MetricResult]) -> str:
    """One value per process; `timens-study test` reads this file.  Where workers took turns it
    has to pair these values, because the neighbours in time are not in them."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["metric", "level", "block", "order", "value_ns"])
    for result in results:
        metric = result.metric
        for level in (*metric.levels, *([metric.aa] if metric.aa else [])):
            for place, value in enumerate(level.values):
                block = place if level.blocks is None else int(level.blocks[place])
                order = place if level.order is None else int(level.order[place])
                writer.writerow([metric.name, level.name, block, order, float(value)])
    return out.getvalue()


def differences_csv(results: Sequence[MetricResult]) -> str:
    """The differences that were tested, one per block; no rows where levels were not paired."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["metric", "i_level", "j_level", "block", "difference_ns"])
    for result in results:
        metric = result.metric
        levels = {x.name: x for x in (*metric.levels, *([metric.aa] if metric.aa else []))}
        for pair in (*result.pairs, *([result.aa] if result.aa else [])):
            if pair.paired is None:
                continue
            found = blocks.differences(metric, levels[pair.i], levels[pair.j])
            for block, gap in zip(found.blocks, found.gaps, strict=True):
                writer.writerow([metric.name, pair.i, pair.j, block, float(gap)])
    return out.getvalue()


def _test(test: Test | None) -> dict[str, Any] | None:
    if test is None:
        return None
    return {"F": test.statistic, "df1": test.df1, "df2": test.df2, "p": test.p}


def _post_hoc(pair: Pair) -> dict[str, Any]:
    return {
        "i_level": pair.i,
        "j_level": pair.j,
        "diff": pair.diff,
        "se": pair.se,
        "df": pair.df,
        "p": pair.p,
        "ci_lower": pair.low,
        "ci_upper": pair.high,
    }


def _interval(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {
        "estimate": interval.estimate,
        "ci_lower": interval.low,
        "ci_upper": interval.high,
        "confidence": interval.confidence,
    }


def _pair(pair: PairResult) -> dict[str, Any]:
    return {
        "i_level": pair.i,
        "j_level": pair.j,
        "paired": pair.paired and _paired(pair.paired),
        "independent": pair.independent and _independent(pair.independent),
        "verdict": pair.verdict.word,
        "reason": pair.verdict.reason or None,
        "verdict_by_means": pair.mean_verdict.word,
    }


def _paired(paired: Paired) -> dict[str, Any]:
    return {
        "blocks": paired.blocks,
        "median_difference": _interval(paired.median),
        "percent": _interval(paired.percent),
        "percent_tost": _interval(paired.percent_tost),
        "wilcoxon": {"W": paired.wilcoxon.statistic, "p": paired.wilcoxon.p},
        "p_holm": paired.p_holm,
        "detectable_percent": paired.detectable_percent,
    }


def _independent(independent: Independent) -> dict[str, Any]:
    return {
        "post_hoc": _post_hoc(independent.test),
        "p_holm": independent.p_holm,
        "percent": _interval(independent.percent),
        "hedges_g": _interval(independent.hedges_g),
        "tost_p": independent.tost_p,
        "equivalent_within_percent": independent.equivalent_within_percent,
        "detectable_percent": independent.detectable_percent,
    }


def _row(result: MetricResult, pair: PairResult) -> dict[str, Any]:
    metric, test = result.metric, result.omnibus_test
    row: dict[str, Any] = {"metric": metric.name, "unit": metric.unit}
    row |= {"i_level": pair.i, "j_level": pair.j}
    for side, name in (("i", pair.i), ("j", pair.j)):
        level = next((x for x in result.levels if x.name == name), None)
        if level is not None:
            row |= {f"{side}_n": level.n, f"{side}_mean": level.mean, f"{side}_sd": level.sd}
            row[f"{side}_median"] = level.median
    if test is not None and pair is not result.aa:
        row |= {"omnibus": result.omnibus, "statistic": test.statistic, "df1": test.df1}
        row |= {"df2": test.df2, "p": test.p, "p_holm": result.omnibus_p_holm}
        row["omega2"] = result.omega2
    if result.friedman is not None and pair is not result.aa:
        row |= {"friedman_chi2": result.friedman.statistic, "friedman_p": result.friedman.p}
        row["friedman_p_holm"] = result.friedman_p_holm
    if pair.paired is not None:
        row |= _paired_row(pair.paired)
    if pair.independent is not None:
        row |= _independent_row(pair.independent)
    row["verdict_by_means"] = pair.mean_verdict.word
    return row | {"verdict": pair.verdict.word, "reason": pair.verdict.reason}


def _paired_row(paired: Paired) -> dict[str, Any]:
    row: dict[str, Any] = {"blocks": paired.blocks}
    row |= _columns("median_diff", "median_ci", paired.median)
    row |= _columns("median_percent", "median_percent_ci", paired.percent)
    row |= {"wilcoxon_p": paired.wilcoxon.p, "wilcoxon_p_holm": paired.p_holm}
    return row | {"paired_detectable_percent": paired.detectable_percent}


def _independent_row(independent: Independent) -> dict[str, Any]:
    test = independent.test
    row: dict[str, Any] = {"mean_diff": test.diff, "mean_ci_lower": test.low}
    row |= {"mean_ci_upper": test.high, "post_hoc_p": test.p, "post_hoc_p_holm": independent.p_holm}
    row |= _columns("percent", "percent_ci", independent.percent)
    row |= _columns("hedges_g", "g_ci", independent.hedges_g)
    row |= {
        "tost_p": independent.tost_p,
        "equivalent_within_percent": independent.equivalent_within_percent,
    }
    return row | {"detectable_percent": independent.detectable_percent}


def _columns(estimate: str, limits: str, interval: Interval | None) -> dict[str, float]:
    if interval is None:
        return {}
    return {
        estimate: interval.estimate,
        f"{limits}_lower": interval.low,
        f"{limits}_upper": interval.high,
    }
