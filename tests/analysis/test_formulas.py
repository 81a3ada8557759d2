# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each formula against scipy where scipy has it, and against its definition where it has not.

Every test here was seen to fail for the slip that it names (tests/analysis/mutants.py).
"""

import math

import numpy as np
import pytest
from scipy import stats

from timens_analysis.stats import (
    bootstrap,
    describe,
    effects,
    multiple,
    omnibus,
    paired,
    pairs,
    pooling,
    studentized_range,
)
from timens_analysis.stats.describe import Interval, Summary

RNG = np.random.default_rng(20_261_121)
# Unequal n, means and spreads, and any number of levels.
GROUPS = {
    k: {f"level{i}": RNG.normal(100 + 2 * i, 3 + 2 * i, size=12 + 5 * i) for i in range(k)}
    for k in (2, 3, 4, 6)
}


def summaries(groups):
    return {name: describe.summarise(values) for name, values in groups.items()}


def test_the_standard_deviation_is_of_a_sample():
    values = np.array([1.0, 2.0, 4.0])
    assert describe.summarise(values).sd == pytest.approx(math.sqrt(7 / 3))  # not 14/9: n - 1


def test_large_values_with_small_spread_keep_their_digits():
    """One pass, sum(x^2) - n mean^2, gives 0 or nonsense here."""
    spread = np.array([-1.0, 0.0, 1.0, 2.0])
    assert describe.summarise(1e12 + spread).sd == pytest.approx(spread.std(ddof=1), rel=1e-9)


def test_single_precision_input_is_widened_before_it_is_summed():
    values = (1e8 + 8 * np.arange(50)).astype(np.float32)
    exact = values.astype(np.float64)
    assert describe.summarise(values).sd == pytest.approx(exact.std(ddof=1), rel=1e-12)


@pytest.mark.parametrize("k", GROUPS)
def test_anova_is_scipys_for_any_number_of_levels(k):
    groups = GROUPS[k]
    ours, theirs = omnibus.anova(list(summaries(groups).values())), stats.f_oneway(*groups.values())
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (ours.df1, ours.df2) == (k - 1, sum(map(len, groups.values())) - k)


@pytest.mark.parametrize("k", GROUPS)
def test_welchs_anova_is_scipys_for_any_number_of_levels(k):
    groups = GROUPS[k]
    ours = omnibus.welch(list(summaries(groups).values()))
    theirs = stats.f_oneway(*groups.values(), equal_var=False)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    # scipy does not tell df2; its p fixes it.
    assert stats.f.sf(ours.statistic, ours.df1, ours.df2) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_welchs_anova_of_two_levels_is_welchs_t_squared():
    a, b = GROUPS[2].values()
    ours, t = (
        omnibus.welch([describe.summarise(x) for x in (a, b)]),
        stats.ttest_ind(b, a, equal_var=False),
    )
    assert ours.statistic == pytest.approx(t.statistic**2)
    assert (ours.df2, ours.p) == pytest.approx((t.df, t.pvalue))


@pytest.mark.parametrize("k", [2, 4])  # scipy takes a third of a second for each interval
@pytest.mark.parametrize(("ours", "equal"), [(pairs.games_howell, False), (pairs.tukey, True)])
def test_every_pair_is_scipys_for_any_number_of_levels(k, ours, equal):
    groups = GROUPS[k]
    names = list(groups)
    theirs = stats.tukey_hsd(*groups.values(), equal_var=equal)
    limits = theirs.confidence_interval(0.95)
    found = ours(summaries(groups))
    assert len(found) == k * (k - 1) // 2
    for pair in found:
        at = names.index(pair.i), names.index(pair.j)
        assert pair.diff == pytest.approx(theirs.statistic[at])
        assert pair.p == pytest.approx(theirs.pvalue[at], abs=1e-9)
        assert (pair.low, pair.high) == pytest.approx((limits.low[at], limits.high[at]), abs=1e-5)


def test_a_slower_level_has_a_positive_difference():
    groups = {"baseline": Summary(20, 100.0, 2.0), "timens": Summary(20, 110.0, 2.0)}
    for test in (pairs.games_howell, pairs.tukey):
        (pair,) = test(groups)
        assert (pair.i, pair.j, pair.diff) == ("timens", "baseline", 10.0)
        assert 0 < pair.low < 10 < pair.high


@pytest.mark.parametrize(
    ("q", "k", "df"), [(3.3, 3, 390.0), (0.5, 3, 16.2), (3.3, 2, 2.0), (8, 3, 3.0), (5, 10, 40.0)]
)
def test_the_studentized_range_is_scipys(q, k, df):
    ours = studentized_range.survival(q, k, df)
    assert ours == pytest.approx(stats.studentized_range.sf(q, k, df), abs=1e-11)
    assert studentized_range.quantile(ours, k, df) == pytest.approx(q, abs=1e-7)


def test_omega_squared_is_zero_rather_than_negative():
    groups = list(summaries(GROUPS[3]).values())
    total = sum(g.n for g in groups)
    test = omnibus.anova(groups)
    between = sum(g.n * (g.mean - _grand(groups)) ** 2 for g in groups)
    within = sum((g.n - 1) * g.variance for g in groups)
    error = within / (total - 3)
    assert omnibus.omega_squared(test, total) == pytest.approx(
        (between - 2 * error) / (between + within + error)
    )
    assert omnibus.omega_squared(describe.Test(0.3, 0.7, 2, 100), 103) == 0.0


def _grand(groups):
    return sum(g.n * g.mean for g in groups) / sum(g.n for g in groups)


def test_holm_adjusts_in_steps_and_keeps_the_order():
    assert multiple.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert multiple.holm([0.6, 0.7]) == [1.0, 1.0]
    assert multiple.holm([]) == []


def test_hedges_g_limits_leave_a_fortieth_on_each_side():
    a, b = Summary(30, 105.0, 6.0), Summary(25, 100.0, 5.0)
    g = effects.hedges_g(a, b)
    df, size = 53, math.sqrt(1 / 30 + 1 / 25)
    pooled = math.sqrt((29 * 36 + 24 * 25) / 53)
    j = 1 - 3 / (4 * df - 1)  # Hedges' approximation of the exact factor
    t = 5.0 / pooled / size
    assert g.estimate == pytest.approx(j * 5.0 / pooled, rel=1e-4)
    assert stats.nct.sf(t, df, g.low / j / size) == pytest.approx(0.025, abs=2e-4)
    assert stats.nct.cdf(t, df, g.high / j / size) == pytest.approx(0.025, abs=2e-4)
    assert effects.hedges_g(b, a).estimate == -g.estimate


def test_an_enormous_effect_still_has_limits():
    """The noncentral t cannot be computed there; the normal approximation steps in."""
    g = effects.hedges_g(Summary(200, 1e4, 0.1), Summary(200, 1.0, 0.1))
    assert g.low < g.estimate < g.high
    assert math.isfinite(g.low + g.high)


def test_tost_agrees_with_its_interval():
    """p < alpha exactly where the 1 - 2 alpha interval lies inside the margin."""
    a, b = Summary(40, 100.4, 2.0), Summary(35, 100.0, 3.0)
    se, df = pairs.welch_se(a, b)
    reach = 0.4 + stats.t.ppf(0.95, df) * se
    assert effects.smallest_margin(a, b) == pytest.approx(reach)
    assert effects.tost(a, b, reach * 1.001) < 0.05 < effects.tost(a, b, reach * 0.999)
    lower = stats.t.sf((0.4 + 2) / se, df)
    upper = stats.t.cdf((0.4 - 2) / se, df)
    assert effects.tost(a, b, 2.0) == pytest.approx(max(lower, upper))


def test_overhead_has_no_interval_when_the_baseline_may_be_zero():
    noise = Summary(10, 0.1, 1.0)
    assert effects.percent_overhead(Summary(10, 5.0, 1.0), noise) is None
    assert effects.percent_overhead(Summary(10, 5.0, 1.0), Summary(10, 0.0, 1.0)) is None


def test_overhead_of_a_sleep_is_of_the_whole_call():
    oversleep, host = Summary(50, 23_000.0, 500.0), Summary(50, 22_000.0, 500.0)
    whole = effects.percent_overhead(oversleep, host, base=1e8)
    assert whole.estimate == pytest.approx(100 * 1_000 / 100_022_000)


def test_friedman_of_three_levels_is_scipys_and_of_two_the_sign_test():
    columns = [RNG.normal(i, 2, 30) for i in range(3)]
    ours, theirs = paired.friedman(columns), stats.friedmanchisquare(*columns)
    assert (ours.statistic, ours.p, ours.df1) == (theirs.statistic, theirs.pvalue, 2)
    a, b = columns[:2]
    wins = int((a > b).sum())
    assert paired.friedman([a, b]).statistic == pytest.approx((2 * wins - 30) ** 2 / 30)
    assert paired.friedman([a, a, a]) == describe.Test(0.0, 1.0, 2)


def test_wilcoxon_is_scipys_and_sees_nothing_in_zeros():
    differences = RNG.normal(0.4, 1, 40)
    ours, theirs = paired.wilcoxon(differences), stats.wilcoxon(differences)
    assert (ours.statistic, ours.p) == (theirs.statistic, theirs.pvalue)
    assert paired.wilcoxon(np.zeros(20)).p == 1.0


@pytest.mark.parametrize("n", [9, 30])
def test_the_bootstrap_of_a_median_is_scipys(n):
    """Same distribution, drawn by ranks: compare the share of resamples at each value."""
    values = np.sort(np.random.default_rng(n).gamma(3, 10, n))
    ours = bootstrap.medians(values, np.random.default_rng(1), 40_000)
    theirs = stats.bootstrap(
        (values,), np.median, n_resamples=40_000, method="percentile", rng=np.random.default_rng(2)
    ).bootstrap_distribution
    for x in values:
        assert (ours <= x).mean() == pytest.approx((theirs <= x).mean(), abs=0.015)
    if n % 2:  # a resample's median is value i or below if most of its n draws are
        for i, x in enumerate(values, start=1):
            exact = stats.binom.sf(n // 2, n, i / n)
            assert (ours <= x).mean() == pytest.approx(exact, abs=0.01)
    assert set(np.round(ours, 9)) <= set(np.round((values[:, None] + values) / 2, 9).ravel())


def test_the_same_seed_gives_the_same_report():
    values = RNG.normal(size=50)
    one, two = (bootstrap.medians(values, np.random.default_rng(7)) for _ in range(2))
    assert (one == two).all()


def test_no_interval_is_narrower_than_a_step_of_the_counter():
    assert paired.widen(Interval(0.75, 0.75, 0.75), 0.25) == Interval(0.5, 0.75, 1.0)
    assert paired.widen(Interval(0.5, 0.75, 1.5), 0.01) == Interval(0.5, 0.75, 1.5)


def test_random_effects_fall_back_to_the_weighted_mean_when_hosts_agree():
    pooled = pooling.random_effects([2.0, 2.01, 1.99, 2.0], [0.1, 0.2, 0.1, 0.3])
    assert (pooled.tau, pooled.i2) == (0.0, 0.0)
    weights = np.array([100, 25, 100, 1 / 0.09])
    assert pooled.mean.estimate == pytest.approx(weights @ [2.0, 2.01, 1.99, 2.0] / weights.sum())


def test_random_effects_meet_their_own_definition():
    """At the Paule-Mandel tau^2 the weighted squares equal k - 1."""
    y, se = np.array([1.0, 3.0, 2.0, 5.0]), np.array([0.3, 0.4, 0.2, 0.5])
    pooled = pooling.random_effects(y, se)
    w = 1 / (se**2 + pooled.tau**2)
    mean = w @ y / w.sum()
    assert w @ (y - mean) ** 2 == pytest.approx(3, rel=1e-6)
    half = stats.t.ppf(0.975, 3) / math.sqrt(w.sum())
    assert (pooled.mean.low, pooled.mean.high) == pytest.approx((mean - half, mean + half))
    assert pooled.next_host.low < pooled.mean.low


def test_one_host_cannot_tell_how_hosts_differ():
    with pytest.raises(ValueError, match="one host"):
        pooling.random_effects([1.0], [0.1])
    with pytest.raises(ValueError, match="positive standard error"):
        pooling.random_effects([1.0, 2.0], [0.1, 0.0])
