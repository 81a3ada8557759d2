# SPDX-License-Identifier: LGPL-2.1-or-later
"""How fast our statistics are, as a ratio to statsmodels and pingouin: `make bench-stats`.

The same tests on the same 9,000 records (Table IV, synthetic): of 15 metrics Shapiro-Wilk for each
level, Levene, ANOVA, Welch's ANOVA, and Games-Howell and Tukey with p (and, but for pingouin's
Games-Howell, which has none, with limits) for each pair.  Imports are not counted.  Each library
runs in a process of its own, three times; the fastest counts.
"""

import csv
import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

PROJECT = Path(__file__).parents[2]
DATA = PROJECT / "tests/data/stats/paper_table4_synthetic.csv"
ROUNDS = 3


def records():
    found = defaultdict(lambda: defaultdict(list))
    with DATA.open() as file:
        for row in csv.DictReader(file):
            found[row["metric"]][row["level"]].append(float(row["value_ns"]))
    return found


def ours():
    import numpy as np

    sys.path.insert(0, str(PROJECT / "analysis"))
    from timens_analysis.stats import describe, omnibus, pairs, studentized_range

    data = {m: {x: np.array(v) for x, v in levels.items()} for m, levels in records().items()}

    def work():
        studentized_range.quantile.cache_clear()  # each round from nothing
        for levels in data.values():
            groups = {name: describe.summarise(values) for name, values in levels.items()}
            for values in levels.values():
                describe.shapiro(values)
            describe.levene(list(levels.values()))
            omnibus.anova(list(groups.values()))
            omnibus.welch(list(groups.values()))
            pairs.games_howell(groups)
            pairs.tukey(groups)

    return work


def statsmodels():
    import numpy as np
    from scipy import stats
    from statsmodels.stats.multicomp import pairwise_tukeyhsd
    from statsmodels.stats.oneway import anova_oneway

    data = {m: {x: np.array(v) for x, v in levels.items()} for m, levels in records().items()}

    def work():
        for levels in data.values():
            groups = list(levels.values())
            values = np.concatenate(groups)
            names = np.repeat(list(levels), [len(g) for g in groups])
            for group in groups:
                stats.shapiro(group)
            stats.levene(*groups)
            anova_oneway(groups, use_var="equal")
            anova_oneway(groups, use_var="unequal")
            pairwise_tukeyhsd(values, names, use_var="unequal")
            pairwise_tukeyhsd(values, names)

    return work


def pingouin():
    import pandas as pd
    import pingouin as pg

    frames = [
        pd.DataFrame([(x, v) for x, values in levels.items() for v in values], columns=["l", "v"])
        for levels in records().values()
    ]

    def work():
        for frame in frames:
            pg.normality(frame, dv="v", group="l")
            pg.homoscedasticity(frame, dv="v", group="l", method="levene")
            pg.anova(frame, dv="v", between="l")
            pg.welch_anova(frame, dv="v", between="l")
            pg.pairwise_gameshowell(frame, dv="v", between="l")
            pg.pairwise_tukey(frame, dv="v", between="l")

    return work


def measure(name):
    work = {"ours": ours, "statsmodels": statsmodels, "pingouin": pingouin}[name]()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    print(json.dumps(best))


def main(other_python):
    times = {}
    for name, python in (
        ("ours", sys.executable),
        ("statsmodels", other_python),
        ("pingouin", other_python),
    ):
        done = subprocess.run(
            [python, __file__, "--measure", name], capture_output=True, text=True, check=True
        )
        times[name] = json.loads(done.stdout)
    for name, seconds in times.items():
        print(
            f"{name:12} {seconds:7.2f} s of processor time, {seconds / times['ours']:6.1f} x ours"
        )


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        measure(sys.argv[2])
    else:
        main(sys.argv[1])
