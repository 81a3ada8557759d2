# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report of a run: every format, whole, self-contained, and soon enough."""

import csv
import json
import re
import shutil
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from synthetic_run import METRICS, make_run

from timens_analysis import cli
from timens_analysis.cli.report import write_report
from timens_analysis.compare import analyse
from timens_analysis.inputs import load_samples
from timens_analysis.load import load_run
from timens_analysis.model import Level, Metric
from timens_analysis.report import build, html, latex, machine, markdown
from timens_analysis.results import Options

FILES = ["report.html", "report.md", "report.tex", "report.csv", "report.json"]
FILES += ["values.csv", "differences.csv"]
SYNTHETIC = Path(__file__).parents[1] / "data/stats/paper_table4_synthetic.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_run(tmp_path_factory.mktemp("study") / "run")
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text()


class Outline(HTMLParser):
    """Tags with their attributes, and whether each was closed."""

    VOID = ("meta", "link", "br")

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def outline(text):
    parser = Outline()
    parser.feed(text)
    assert (parser.open, parser.wrong) == ([], [])
    return parser.tags


def test_all_formats_are_written_and_named(folder, capsys):
    assert cli.main(["report", str(folder)]) == 0
    assert capsys.readouterr().out.split() == [str(folder / name) for name in FILES]
    assert {p.name for p in folder.iterdir()} == {*FILES, "records.jsonl", "environment.json"}


def test_the_same_records_and_seed_give_the_same_bytes(folder):
    before = {name: (folder / name).read_bytes() for name in FILES}
    write_report(folder)
    assert {name: (folder / name).read_bytes() for name in FILES} == before


def test_the_page_fetches_nothing(page):
    for tag, attributes in outline(page):
        assert tag not in ("img", "iframe", "object", "embed", "base", "audio", "video")
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            assert attributes.get(name, "#").startswith(("#", "data:,")), (tag, attributes)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src &#x27;none&#x27;" in page


def test_every_metric_has_its_plots_and_every_plot_a_text(page):
    for metric in METRICS:
        for plot in ("differences", "distribution", "Q-Q plot", "run order"):
            assert f">{metric}: {plot}</title>" in page
    plots = [attributes for tag, attributes in outline(page) if tag == "svg"]
    assert len(plots) == 1 + 4 * len(METRICS)
    assert all(p["role"] == "img" and p["aria-labelledby"] for p in plots)
    identities = [a["id"] for _, a in outline(page) if "id" in a]
    assert len(identities) == len(set(identities))


def test_arms_differ_by_shape_and_not_by_colour_alone(page):
    overview = page[page.index("<svg") : page.index("</svg>")]
    for colour in ("#0072B2", "#D55E00", "#767676"):
        assert colour in overview
    markers = re.findall(r'stroke-linecap="square"|<path d="M[\d. ]+l[^"]*z" fill="#\w+"', overview)
    shapes = {"square" if m.startswith("stroke") else m.split("fill=")[1] for m in markers}
    assert shapes >= {"square", '"#D55E00"', '"#767676"'}


def test_tables_sort_by_numbers_and_not_by_their_looks(page):
    cells = re.findall(r'<td class="n" data-sort="([^"]+)">([^<]*)<', page)
    assert cells
    for key, _ in cells:
        float(key)
    smallest = min(float(key) for key, shown in cells if shown == "&lt;0.001")
    assert smallest < 1e-6  # hidden behind one word, still in order


def test_the_report_tells_how_to_make_it_again(folder):
    text = (folder / "report.md").read_text()
    reproduce = text[text.index("## Reproduce") :]
    assert "timens-study run --profile quick --seed 1\n" in reproduce
    assert f"timens-study report {folder}\n" in reproduce


def test_options_are_part_of_the_command(folder, tmp_path):
    write_report(folder, chosen=Options("welch", margin_percent=2.0), output=tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert f"timens-study report {folder} --method welch --margin 2%" in text
    assert "Effects within blocks" not in text  # paired tests were not asked for


def test_csv_holds_every_bit(folder):
    run = load_run(folder)
    analysis = analyse(run.metrics, Options(), run.problems)
    with (folder / "report.csv").open() as file:
        rows = {(r["metric"], r["i_level"], r["j_level"]): r for r in csv.DictReader(file)}
    assert len(rows) == 4 * len(METRICS)  # three pairs and A/A
    for result in analysis.metrics:
        for pair in result.pairs:
            row = rows[result.metric.name, pair.i, pair.j]
            assert float(row["median_ci_lower"]) == pair.paired.median.low
            assert float(row["hedges_g"]) == pair.independent.hedges_g.estimate
            assert float(row["wilcoxon_p"]) == pair.paired.wilcoxon.p
            assert row["verdict"] == pair.verdict.word


def test_values_csv_gives_the_same_tests_again(folder, capsys):
    whole = json.loads((folder / "report.json").read_text())
    assert cli.main(["test", str(folder / "values.csv"), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for old, new in zip(whole["metrics"], again["metrics"], strict=True):
        want = {k: old["descriptives"][k] for k in old["descriptives"]}
        assert {k: new["descriptives"][k] for k in want} == want
        differences = {
            (p["i_level"], p["j_level"]): p["paired"]["median_difference"]["estimate"]
            for p in new["pairs"]
        }
        for pair in old["pairs"]:
            median = pair["paired"]["median_difference"]["estimate"]
            assert differences[pair["i_level"], pair["j_level"]] == median


def test_a_report_that_cannot_be_written_leaves_nothing(folder, tmp_path, capsys):
    (tmp_path / "report.html").mkdir()
    assert cli.main(["report", str(folder), "-o", str(tmp_path)]) == 1
    assert "report.html: Is a directory" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_hostile_names_stay_text():
    name = "<script>alert(1)</script>|\\evil{}$%_^~&#"
    rng = np.random.default_rng(1)
    metric = Metric(name, tuple(Level(x, rng.normal(9, 1, 9)) for x in ("a<b>", "$b_{1}$")))
    page = build.samples_document(analyse([metric], Options()), [])
    assert "<script>alert" not in html.render(page)
    outline(html.render(page))
    assert "\\evil" not in latex.render(page)
    assert "alert(1)</script>\\|" in markdown.render(page)


def test_a_zero_width_is_never_shown(folder):
    text = (folder / "report.md").read_text()
    for low, high in re.findall(r"\[([−+]?[\d.]+), ([−+]?[\d.]+)\]", text):
        assert low != high


def test_records_of_the_papers_size_are_analysed_and_written_in_five_seconds(tmp_path):
    """9,000 records, imports apart; the processor's time, since other programs may run too."""
    metrics = load_samples([SYNTHETIC])
    assert sum(x.values.size for m in metrics for x in m.levels) == 9_000
    start = time.process_time()
    analysis = analyse(metrics, Options())
    page = build.samples_document(analysis, [SYNTHETIC])
    plots = build.Document("", "", list(build._plots(analysis.metrics)))
    for text in (
        html.render(page),
        html.render(plots),
        markdown.render(page),
        latex.render(page),
        machine.csv_text(analysis),
        machine.values_csv(analysis.metrics),
        json.dumps(machine.analysis_dict(analysis)),
    ):
        (tmp_path / "page").write_text(text)
    assert time.process_time() - start < 5


def test_only_what_was_asked_for_is_written(folder, tmp_path, capsys):
    copy = shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("report*"))
    assert cli.main(["report", str(copy), "--formats", "md,csv", "--margin", "2%"]) == 0
    assert capsys.readouterr().out.split() == [str(copy / "report.md"), str(copy / "report.csv")]
    with pytest.raises(SystemExit):
        cli.main(["report", str(copy), "--formats", "pdf"])
    assert "'pdf' is none of html, md, tex, csv, json, values" in capsys.readouterr().err
