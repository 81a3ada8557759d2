# SPDX-License-Identifier: LGPL-2.1-or-later
"""Break one formula at a time in a copy of the package: some test must fail (`make mutants`).

A mutant that survives is a formula that no test watches.  Words on the command line choose the
mutants whose names hold one of them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "analysis"
WATCHERS = ("test_formulas.py", "test_reference_cases.py", "test_paper_table.py",
            "test_coverage.py", "test_verdicts.py", "test_degenerate.py",
            "test_load.py")  # fmt: skip

# (what is broken, file, what stands there, what the slip would be)
MUTANTS = (
    ("SD of a population (ddof)", "stats/describe.py", "std(ddof=1)", "std(ddof=0)"),
    ("one-pass variance", "stats/describe.py", "float(wide.std(ddof=1))",
     "float(np.sqrt(max(0, ((wide**2).sum() - wide.size * wide.mean()**2) / (wide.size - 1))))"),
    ("df2 of ANOVA", "stats/omnibus.py", "float(total - k))", "float(total - 1))"),
    ("df2 of Welch", "stats/omnibus.py", "/ (3 * spread)", "/ (2 * spread)"),
    ("Welch's correction left out", "stats/omnibus.py", "1 + 2 * (k - 2)", "1 + 0 * (k - 2)"),
    ("k fixed at 3 in Welch", "stats/omnibus.py", "    k = len(groups)\n    weight",
     "    k = 3\n    weight"),
    ("k fixed at 3 in post hoc tests", "stats/pairs.py", "    k = len(groups)\n", "    k = 3\n"),
    ("sign of a difference", "stats/pairs.py", "groups[i].mean - groups[j].mean",
     "groups[j].mean - groups[i].mean"),
    ("Tukey for Games-Howell", "stats/pairs.py", "*welch_se(groups[i], groups[j])",
     "tukey(groups, confidence)[0].se, tukey(groups, confidence)[0].df"),
    ("studentized range without sqrt 2", "stats/pairs.py", "abs(diff) / se * math.sqrt(2)",
     "abs(diff) / se"),
    ("df of a pair", "stats/pairs.py", "/ (va**2 / (a.n - 1)", "/ (va**2 / a.n"),
    ("Hedges g without J", "stats/effects.py", "j * low, j * d, j * high", "low, d, high"),
    ("TOST on the wrong side", "stats/effects.py", "margin - abs(a.mean - b.mean)",
     "margin + abs(a.mean - b.mean)"),
    ("equivalence at 95 %", "stats/effects.py", "stats.t.isf(alpha, df)) * se",
     "stats.t.isf(alpha / 2, df)) * se"),
    ("power left out of the MDE", "stats/effects.py", "stats.t.ppf(power, df)", "0"),
    ("Fieller without the host's variance", "stats/effects.py", "ratio**2 * vy", "0 * vy"),
    ("Bonferroni for Holm", "stats/multiple.py", "np.arange(values.size, 0, -1)",
     "np.full(values.size, values.size)"),
    ("Holm not monotone", "stats/multiple.py", "np.maximum.accumulate(values[order] * factors)",
     "values[order] * factors"),
    ("omega squared may be negative", "stats/omnibus.py", "max(0.0, excess / (excess + total))",
     "excess / (excess + total)"),
    ("eta for omega squared", "stats/omnibus.py", "(test.statistic - 1)", "test.statistic"),
    ("mean-centred Levene", "stats/describe.py", "center=center", 'center="mean"'),
    ("bootstrap of the wrong rank", "stats/bootstrap.py", "middle = (n + 1) // 2",
     "middle = n // 4 + 1"),
    ("interval of half the confidence", "stats/bootstrap.py", "0.5 + confidence / 2", "confidence"),
    ("zero-width intervals", "stats/paired.py", "interval.estimate - step", "interval.low"),
    ("A/A is ignored", "verdict.py", "aa_p < options.alpha", "aa_p < 0"),
    ("controls are ignored", "verdict.py", '!= "negative"', '== "negative"'),
    ("not significant is the same as equal", "verdict.py", 'else "inconclusive"',
     'else f"equivalent within {margin}"'),
    ("first attempt counts", "load.py", '(r["metric"], r["arm"], r["block"]): r for r in records',
     '(r["metric"], r["arm"], r["block"]): r for r in reversed(list(records))'),
    ("mean of batches", "load.py", "np.median(ticks)", "np.mean(ticks)"),
)  # fmt: skip


def survives(file: str, old: str, new: str) -> bool:
    """Whether all tests pass although the formula is broken."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "analysis"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        path = copy / "timens_analysis" / file
        text = path.read_text()
        if old not in text:
            sys.exit(f"mutants: {file}: {old!r} is not there any more")
        path.write_text(text.replace(old, new))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-qx", "--no-header", "-o", f"pythonpath={copy}",
             "-p", "no:cacheprovider", *WATCHERS],
            cwd=HERE, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        if done.returncode not in (0, 1):  # neither passed nor failed: nothing was tested
            sys.exit(f"mutants: pytest: exit status {done.returncode}: {done.stderr[-500:]}")
        found = next((x for x in done.stdout.splitlines() if x.startswith("FAILED")), "")
        print(f"    {found[:96]}", flush=True)
        return done.returncode == 0


def main() -> int:
    words, alive = sys.argv[1:], []
    chosen = [m for m in MUTANTS if not words or any(word in m[0] for word in words)]
    for name, *mutation in chosen:
        print(name, flush=True)
        if survives(*mutation):
            alive.append(name)
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants were caught")
    for name in alive:
        print(f"survived: {name}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
