# SPDX-License-Identifier: LGPL-2.1-or-later
"""An interval that claims 95 % is drawn again and again, and must catch the truth so often.

Bounds are about three and a half standard errors of a binomial count, and the seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from timens_analysis import blocks
from timens_analysis.model import Level, Metric
from timens_analysis.results import Options
from timens_analysis.stats import describe, effects, pairs

DRAWS = 400
CLAIM = pytest.approx(0.95, abs=0.035)


def skewed(rng, size, mean):
    """Times: a floor, and a tail to the right."""
    return mean - 4.0 + rng.gamma(4.0, 1.0, size)


def share(hits):
    return sum(hits) / len(hits)


def test_games_howell_catches_all_differences_together():
    rng = np.random.default_rng(1)
    hits = []
    for _ in range(250):
        # The levels are as unequal as it gets: Tukey would miss here (next test).
        groups = {
            "a": describe.summarise(rng.normal(100, 1, 15)),
            "b": describe.summarise(rng.normal(103, 4, 10)),
            "c": describe.summarise(rng.normal(101, 2, 30)),
        }
        truth = {"a": 100, "b": 103, "c": 101}
        found = pairs.games_howell(groups)
        hits.append(all(p.low <= truth[p.i] - truth[p.j] <= p.high for p in found))
    assert share(hits) == pytest.approx(0.95, abs=0.045)


def test_tukey_holds_for_equal_variances_and_fails_for_unequal_ones():
    """Why Games-Howell is the default: Tukey in its place is caught by this count."""

    def coverage(small_sd, big_sd):
        rng = np.random.default_rng(2)
        hits = []
        for _ in range(DRAWS):
            groups = {
                "a": describe.summarise(rng.normal(0, small_sd, 40)),
                "b": describe.summarise(rng.normal(0, small_sd, 40)),
                "c": describe.summarise(rng.normal(0, big_sd, 8)),
            }
            hits.append(all(p.low <= 0 <= p.high for p in pairs.tukey(groups)))
        return share(hits)

    assert coverage(2, 2) == CLAIM
    assert coverage(1, 6) < 0.85


def test_percent_overhead_catches_the_true_ratio():
    rng = np.random.default_rng(3)
    hits = []
    for _ in range(DRAWS):
        host = describe.summarise(skewed(rng, 40, 50.0))
        inside = describe.summarise(1.04 * skewed(rng, 40, 50.0))
        found = effects.percent_overhead(inside, host)
        hits.append(found.low <= 4.0 <= found.high)
    assert share(hits) == CLAIM


def test_hedges_g_catches_the_true_effect():
    rng = np.random.default_rng(4)
    hits = []
    for _ in range(DRAWS):
        a, b = (describe.summarise(rng.normal(m, 2, 20)) for m in (101.6, 100))
        found = effects.hedges_g(a, b)
        hits.append(found.low <= 0.8 <= found.high)
    assert share(hits) == CLAIM


def paired_of(rng, n, shift, step=0.0):
    """Blocks with a luck of their own, skewed noise, perhaps a coarse counter."""
    luck = rng.normal(0, 5, n)

    def level(name, extra):
        values = skewed(rng, n, 100.0) + luck + extra
        if step:
            values = np.round(values / step) * step
        return Level(name, values, np.arange(n))

    metric = Metric("m", (level("baseline", 0.0), level("timens", shift)), resolution=step)
    return blocks.compare(metric, metric.levels[1], metric.levels[0], Options(), rng)


@pytest.mark.parametrize(("blocks", "step"), [(8, 0.0), (15, 0.0), (41, 0.0), (41, 0.5)])
def test_the_bootstrap_catches_the_median_difference_within_blocks(blocks, step):
    rng = np.random.default_rng(5)
    found = [paired_of(rng, blocks, 0.8, step) for _ in range(250)]
    for limits, claim in (("median", 0.95), ("percent_tost", 0.9)):
        # The host takes about 100, so that 0.8 are about 0.8 %.
        caught = share([getattr(p, limits).low <= 0.8 <= getattr(p, limits).high for p in found])
        # Few blocks, or a coarse counter, make intervals wider, never narrower.
        assert caught >= claim - 0.05
        assert step or blocks < 20 or caught <= claim + 0.05


def test_equal_levels_are_called_different_as_often_as_alpha_says():
    rng = np.random.default_rng(6)
    found = [paired_of(rng, 60, 0.0) for _ in range(DRAWS)]
    assert share([p.wilcoxon.p < 0.05 for p in found]) == pytest.approx(0.05, abs=0.03)


def test_equivalence_is_claimed_wrongly_no_more_often_than_alpha():
    """The truth lies on the margin itself: the hardest case."""
    rng = np.random.default_rng(7)
    wrong = []
    for _ in range(DRAWS):
        a, b = (describe.summarise(rng.normal(m, s, 30)) for m, s in ((101, 2), (100, 1)))
        wrong.append(effects.tost(a, b, 1.0) < 0.05)
    assert share(wrong) == pytest.approx(0.05, abs=0.03)


def test_the_detectable_effect_is_found_in_four_of_five_cases():
    rng = np.random.default_rng(8)
    size = effects.detectable(describe.Summary(30, 0, 2.0), describe.Summary(30, 0, 1.0))
    a, b = rng.normal(size, 2, (20_000, 30)), rng.normal(0, 1, (20_000, 30))
    found = stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.015)
