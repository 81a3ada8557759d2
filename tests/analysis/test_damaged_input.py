# SPDX-License-Identifier: LGPL-2.1-or-later
"""Input that is damaged or no sense is refused in one line, never with a traceback."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from synthetic_run import make_run

from timens_analysis import cli

PROGRAM = Path(__file__).parents[2] / "build/bin/timens-study"


def refusal(capsys, *words):
    assert cli.main([str(word) for word in words]) == 1
    return capsys.readouterr().err


def test_a_run_without_records_has_no_report(tmp_path, capsys):
    folder = make_run(tmp_path / "run", blocks=2)
    (folder / "records.jsonl").write_text("")
    before = sorted(folder.iterdir())

    assert refusal(capsys, "report", folder) == (
        f"timens-study: run: {folder}/records.jsonl: no records\n"
        f"hint: timens-study resume {folder} measures them\n"
    )
    assert sorted(folder.iterdir()) == before


def test_records_of_metrics_that_were_not_planned_still_make_a_report(tmp_path):
    folder = make_run(tmp_path / "run", blocks=2)
    path = folder / "records.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps({**first, "metric": "other"}) + "\n")

    assert cli.main(["report", str(folder)]) == 0
    assert (folder / "report.tex").exists()


@pytest.mark.parametrize("command", ["report", "status", "show"])
@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{}", "the schema is not timens-record/1"),
        ("[1]", "the schema is not timens-record/1"),
        ("no", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[" * 100_000, "not JSON: maximum recursion depth exceeded"),
        ('{"schema": "timens-record/1"}', "'metric' is missing or wrong"),
    ],
)
def test_a_damaged_record_is_named_by_its_line(tmp_path, capsys, command, line, cause):
    folder = make_run(tmp_path / "run", blocks=2)
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n")
    environment = json.loads((folder / "environment.json").read_text())
    (folder / "environment.json").write_text(json.dumps({**environment, "scheduling": {}}))

    told = refusal(capsys, command, folder)
    assert told.startswith(f"timens-study: run: {path}: line 3: {cause}")


@pytest.mark.parametrize(
    ("n", "mean", "sd", "cause"),
    [
        ("1e99", "5", "1", "line 2: a level needs n, mean and sd"),
        ("²", "5", "1", "line 2: a level needs n, mean and sd"),
        ("9" * 400, "5", "1", "line 2: n: more than 15 digits"),
        ("9", "1e400", "1", "line 2: mean: '1e400' is larger than 1e+60"),
        ("9", "0e400", "1", "line 2: mean: '0e400' is larger than 1e+60"),
        ("9", "5", "1e200", "line 2: sd: '1e200' is larger than 1e+60"),
        ("9", "5", "1e-200", "line 2: a level needs n > 1 and sd > 0: there is no test else"),
    ],
)
def test_numbers_of_a_published_table_that_cannot_be_tested(tmp_path, capsys, n, mean, sd, cause):
    table = tmp_path / "table.csv"
    table.write_text(f"metric,level,n,mean,sd\nm,a,{n},{mean},{sd}\nm,b,9,6,1\n")

    told = refusal(capsys, "audit", table, "-o", tmp_path / "page.html")
    assert told == f"timens-study: audit: {table}: {cause}\n"
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("word", ['"1"', "true", "[2]", '"nan"'])
def test_a_sample_that_is_no_number_is_named(tmp_path, capsys, word):
    path = tmp_path / "x.json"
    path.write_text(f'{{"samples": {{"a": [1, 2, {word}], "b": [1, 2, 3]}}}}')

    told = refusal(capsys, "test", path)
    assert told == f"timens-study: test: {path}: samples: a: not a number: {word}\n"


def test_a_number_of_a_benchmark_tool_that_is_none_is_named(tmp_path, capsys):
    path = tmp_path / "h.json"
    path.write_text('{"results": [{"command": "a", "times": [1, true]}]}')

    assert refusal(capsys, "test", path) == (
        f"timens-study: test: {path}: damaged: TypeError('true')\n"
    )


def test_a_column_named_twice_is_refused(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("a,b,a\n1,2,3\n1,2,3\n")

    told = refusal(capsys, "test", path)
    assert told == f"timens-study: test: {path}: column a is there more than once\n"


def test_json_without_end_is_refused(tmp_path, capsys):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)

    told = refusal(capsys, "test", path)
    assert told.startswith(f"timens-study: test: {path}: not JSON: maximum recursion depth")


def test_two_forms_of_output_at_once_are_a_usage_error(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["test", "x.csv", "--json", "--csv"])
    assert ended.value.code == 2
    assert "--csv: not allowed with argument --json" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["test", "--help"], ["audit", "-o", "PAGE"]])
def test_a_full_device_is_one_line(tmp_path, words):
    words = [str(tmp_path / "page.html") if word == "PAGE" else word for word in words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "timens-study: No space left on device\n")


def test_an_interrupt_while_python_still_loads_is_quiet(tmp_path):
    (tmp_path / "argparse.py").write_text("import os; os.kill(os.getpid(), 2)\n")
    done = subprocess.run(
        [PROGRAM, "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
