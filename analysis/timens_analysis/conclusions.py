# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do several runs conclude the same?  By verdicts, not by p values: of two runs one may be able to
say less than the other, and only what both say can contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from timens_analysis.results import Analysis, MetricResult

AGREE, OPEN, CONTRADICT = "agree", "agree where they conclude", "contradict"
NO_WORD = "no verdict"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One level against the baseline: the word of every run, and whether they go together."""

    metric: str
    level: str
    words: tuple[str, ...]
    together: str


def conclusions(analyses: Sequence[Analysis]) -> list[Conclusion]:
    """For every effect of the first run."""
    found = []
    for result in analyses[0].metrics:
        for pair in result.pairs:
            if pair.j == result.metric.levels[0].name:
                words = tuple(_word(a.metrics, result.metric.name, pair.i) for a in analyses)
                found.append(Conclusion(result.metric.name, pair.i, words, _together(words)))
    return found


def _word(results: Sequence[MetricResult], metric: str, level: str) -> str:
    for result in results:
        if result.metric.name == metric:
            for pair in result.pairs:
                if (pair.i, pair.j) == (level, result.metric.levels[0].name):
                    return pair.verdict.word
    return NO_WORD


def _together(words: Sequence[str]) -> str:
    said = [kind for word in words if (kind := _kind(word)) is not None]
    if len(set(said)) > 1:
        return CONTRADICT
    return AGREE if len(said) == len(words) else OPEN


def _kind(word: str) -> str | None:
    """Inside the margin, or outside in one direction; None where nothing is concluded."""
    if word in ("slower", "faster", "different"):
        return word
    if "within" in word:
        return "within"
    return None
