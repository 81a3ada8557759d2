# SPDX-License-Identifier: LGPL-2.1-or-later
"""`timens-study test` reads what other tools write."""

import json

import pytest

from timens_analysis import cli

A, B = [0.010, 0.011, 0.012, 0.013, 0.0125], [0.020, 0.021, 0.022, 0.023, 0.0225]


def answer(capsys, *words):
    status = cli.main(["test", *map(str, words), "--json"])
    told = capsys.readouterr()
    assert status == 0, told.err
    return json.loads(told.out)


def save(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def mean_of(result, level):
    return result["descriptives"][level]["mean"]


def pyperf(values):
    """Two runs with the same process each would be one value each: their median."""
    runs = [{"metadata": {}, "warmups": [[1, 0.5]]}]  # a calibration run has no values
    runs += [{"values": [v, v, 9.0]} for v in values]
    return {"version": "1.0", "benchmarks": [{"metadata": {"name": "getres"}, "runs": runs}]}


def test_pyperf_files_are_levels_and_a_process_is_one_value(tmp_path, capsys):
    one, two = save(tmp_path / "base.json", pyperf(A)), save(tmp_path / "timens.json", pyperf(B))
    result = answer(capsys, one, two)
    assert result["metric"] == "getres"
    assert result["descriptives"]["base"]["n"] == 5
    assert mean_of(result, "timens") == pytest.approx(21.7e6)
    assert result["pairs"][0]["verdict"] == "slower"


def test_a_pyperf_file_that_pyperf_wrote_is_read(tmp_path, capsys):
    import pyperf as tool

    paths = []
    for name, values in (("a", A), ("b", B)):
        runs = [tool.Run([v], metadata={"name": "bench"}, collect_metadata=False) for v in values]
        paths.append(tmp_path / f"{name}.json")
        tool.BenchmarkSuite([tool.Benchmark(runs)]).dump(str(paths[-1]))
    result = answer(capsys, *paths)
    assert (result["metric"], mean_of(result, "a")) == ("bench", pytest.approx(11.7e6))


def test_hyperfine_commands_are_levels(tmp_path, capsys):
    results = [{"command": "sleep 1", "times": A}, {"command": "sleep 2", "times": B}]
    result = answer(capsys, save(tmp_path / "h.json", {"results": results}))
    assert list(result["descriptives"]) == ["sleep 1", "sleep 2"]
    assert mean_of(result, "sleep 2") == pytest.approx(21.7e6)


def test_google_benchmark_repetitions_are_values_and_aggregates_are_not(tmp_path, capsys):
    def rows(name, values, unit, scale):
        for value in values:
            yield {"name": name, "run_name": name, "run_type": "iteration",
                   "real_time": value * scale, "time_unit": unit}  # fmt: skip
        yield {"name": f"{name}_mean", "run_name": name, "run_type": "aggregate", "real_time": 1e9}

    content = {"context": {}, "benchmarks": [*rows("a", A, "ns", 1e9), *rows("b", B, "us", 1e6)]}
    result = answer(capsys, save(tmp_path / "g.json", content))
    assert result["descriptives"]["a"]["n"] == 5
    assert mean_of(result, "b") == pytest.approx(21.7e6)


def test_long_csv_with_blocks_is_paired(tmp_path, capsys):
    lines = ["metric,level,block,value_ns"]
    for block in range(12):
        lines += [f"m,baseline,{block},{100 + block}", f"m,timens,{block},{101.5 + block}"]
    result = answer(capsys, save(tmp_path / "x.csv", "\n".join(lines)))
    found = result["pairs"][0]["paired"]
    assert (found["blocks"], found["median_difference"]["estimate"]) == (12, 1.5)


def test_wide_csv_has_a_level_in_each_column_and_may_be_uneven(tmp_path, capsys):
    text = "before,after\n1.0,2.0\n1.5,2.5\n1.2,2.2\n,2.4\n"
    result = answer(capsys, save(tmp_path / "wide.csv", text))
    assert [result["descriptives"][x]["n"] for x in ("before", "after")] == [3, 4]


def test_many_metrics_are_a_list_and_one_that_fails_hides_no_other(tmp_path, capsys):
    lines = ["metric,level,value"]
    lines += [f"good,{x},{v}" for x, values in (("a", A), ("b", B)) for v in values]
    lines += ["bad,a,1", "bad,a,1", "bad,a,1", "bad,b,1"]
    result = answer(capsys, save(tmp_path / "m.csv", "\n".join(lines)))
    assert [m["metric"] for m in result["metrics"]] == ["good", "bad"]
    assert result["metrics"][0]["pairs"][0]["verdict"] == "slower"
    assert [(p["metric"], p["level"]) for p in result["problems"]] == [("bad", "a"), ("bad", "b")]


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("x.json", "{", "x.json: not JSON"),
        ("x.json", {"numbers": [1]}, "x.json: none of the known forms"),
        ("x.json", {"samples": [1, 2]}, "x.json: 'samples' must hold a list of numbers"),
        ("x.json", {"samples": {"a": ["ten"]}}, "x.json: samples: a: not a number"),
        ("x.csv", "", "x.csv: no rows below a header line"),
        ("x.csv", "level,blood\na,1\n", "x.csv: no column of values (value_ns, value, ns)"),
        ("x.csv", "level,value\na,1\na,x\n", "x.csv: row 3, column value: not a number: 'x'\n"),
        ("x.csv", "level,value\na,1_000\n", "x.csv: row 2, column value: not a number: '1_000'\n"),
        ("x.csv", "level,value\na,nan\n", "x.csv: row 2, column value: not a number: 'nan'\n"),
        ("x.csv", "level,value\na,1\nb,\n", "x.csv: row 3, column value: not a number: ''\n"),
        ("x.csv", "level,value\na,1e999\n", "x.csv: row 2, column value: not a number: '1e999'"),
        ("x.csv", "a,b\n1,2\n,inf\n", "x.csv: row 3, column b: not a number: 'inf'\n"),
        ("x.csv", "arm,block,ns\na,1_0,1\n", "x.csv: row 2, column block: not a number: '1_0'\n"),
        ("x.json", {"results": [{"times": [1]}]}, "x.json: damaged: KeyError('command')"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_cause(tmp_path, capsys, name, content, cause):
    path = save(tmp_path / name, content)
    assert cli.main(["test", str(path)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert cause in told.err
    assert told.err.startswith("timens-study: test: ")


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    assert cli.main(["test", str(tmp_path / "none.json")]) == 1
    assert "none.json: No such file or directory" in capsys.readouterr().err
