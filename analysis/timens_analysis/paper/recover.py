# SPDX-License-Identifier: LGPL-2.1-or-later
"""Find the exact sums behind a rounded table, where its records were whole numbers.

Records of whole nanoseconds leave traces: every mean is a multiple of 1/n, and the sum of squares
is a whole number too, odd or even as the sum is.  So the printed digits often allow one set of
sums only, and with it means and SDs that are exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from timens_analysis.paper.published import PrintedLevel, PrintedMetric
from timens_analysis.stats.describe import Summary

MOST_SOLUTIONS = 64


def count_whole(metrics: Sequence[PrintedMetric]) -> int:
    """In how many metrics all printed differences are multiples of 1/n.  (One difference of three
    decimals with n = 200 is so by chance in one of five cases, three are in one of 125.)"""
    return sum(map(is_whole, metrics))


def is_whole(metric: PrintedMetric) -> bool:
    """Whether the records of this metric can have been whole numbers, and the digits show it."""
    n = {level.n for level in metric.levels}
    cells = [pair.diff for pair in metric.pairs if pair.diff is not None]
    if len(n) != 1 or len(cells) < 2:
        return False
    count = n.pop()
    return all(
        cell.half * count < 0.25 and abs(cell.value * count - round(cell.value * count)) < 1e-6
        for cell in cells
    )


def whole_records(metric: PrintedMetric) -> list[list[Summary]]:
    """All tables of whole records that would have been printed so; none where records were not
    whole, or where the digits leave too many."""
    if not is_whole(metric):
        return []
    found: list[list[Summary]] = []
    for sums in _sums(metric):
        choices = [list(_levels(*pair)) for pair in zip(metric.levels, sums, strict=True)]
        if math.prod(map(len, choices)) + len(found) > MOST_SOLUTIONS:
            return []
        found += [list(table) for table in itertools.product(*choices)]
    return found


def _sums(metric: PrintedMetric) -> Iterator[list[int]]:
    """Sums of each level that give all printed means and differences."""
    choices = []
    for level in metric.levels:
        low = math.ceil((level.mean.value - level.mean.half) * level.n - 1e-6)
        high = math.floor((level.mean.value + level.mean.half) * level.n + 1e-6)
        choices.append(range(low, high + 1))
    place = {level.name: n for n, level in enumerate(metric.levels)}
    count = metric.levels[0].n
    wanted = [
        (place[pair.i], place[pair.j], round(pair.diff.value * count))
        for pair in metric.pairs
        if pair.diff is not None
    ]
    for sums in itertools.product(*choices):
        if all(sums[i] - sums[j] == difference for i, j, difference in wanted):
            yield list(sums)


def _levels(level: PrintedLevel, total: int) -> Iterator[Summary]:
    """Means and SDs of whole records with this sum that round to the printed SD."""
    n = level.n
    shift = total**2 / n
    low = (level.sd.value - level.sd.half) ** 2 * (n - 1) + shift
    high = (level.sd.value + level.sd.half) ** 2 * (n - 1) + shift
    for squares in range(math.ceil(low - 1e-6), math.floor(high + 1e-6) + 1):
        if squares % 2 == total % 2:  # x and x^2 are odd or even together
            yield Summary(n, total / n, math.sqrt((squares - shift) / (n - 1)))
