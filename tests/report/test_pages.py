# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report as a browser and LaTeX see it: `make test-report` (chromium and TeX are large)."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from synthetic_run import METRICS, make_run

from timens_analysis import cli

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROBE = """
<script>
const told = [];
for (const name of ["log", "warn", "error"]) console[name] = (...words) => told.push(words);
addEventListener("error", (event) => told.push(String(event.message)));
addEventListener("load", () => {
  const table = document.querySelector("table");
  const titles = [...table.tHead.rows[0].cells];
  const column = titles.findIndex((cell) => /^(Relative|Welch F)/.test(cell.textContent));
  const rows = () => [...table.tBodies[0].rows];
  const keys = () => rows().map((row) => Number(row.cells[column].dataset.sort));
  const press = () => titles[column].querySelector("button").click();
  press(); const up = keys();
  press(); const down = keys();
  const wide = document.documentElement.scrollWidth;
  const bare = [...document.querySelectorAll("svg text")].filter((t) => {
    const box = t.getBBox(), sheet = t.ownerSVGElement.viewBox.baseVal;
    return box.x < -1 || box.y < -1 || box.x + box.width > sheet.width + 1
      || box.y + box.height > sheet.height + 1;
  }).map((t) => t.textContent);
  const result = {told, up, down, wide, cut: bare, plots: document.querySelectorAll("svg").length,
    sorted: titles[column].getAttribute("aria-sort")};
  const out = document.createElement("pre");
  out.id = "probe"; out.textContent = JSON.stringify(result);
  document.body.append(out);
});
</script>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_run(tmp_path_factory.mktemp("pages") / "run", blocks=60)
    assert cli.main(["report", str(folder)]) == 0
    assert cli.main(["audit", "-o", str(folder / "audit.html")]) == 0
    assert cli.main(["audit", "-o", str(folder / "audit.tex")]) == 0
    return folder


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found, f"none of {', '.join(BROWSERS)} is installed"
    return [found, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,2000"]


def chrome(browser, *words):
    done = subprocess.run(
        [*browser, *words], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", ["report.html", "audit.html"])
def test_the_page_works_in_a_browser_without_a_complaint(folder, browser, tmp_path, name):
    page = (folder / name).read_text()
    probed = tmp_path / name
    probed.write_text(page.replace("</head>", f"{PROBE}</head>"))
    text, log = chrome(browser, "--enable-logging=stderr", "--dump-dom", probed.as_uri())
    assert "CONSOLE" not in log
    found = re.search(r'<pre id="probe">(.*?)</pre>', text, re.S).group(1)
    seen = json.loads(found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert (seen["told"], seen["cut"]) == ([], [])
    assert seen["wide"] <= 1300
    assert seen["plots"] == (1 + 4 * len(METRICS) if name == "report.html" else 0)
    assert len(set(seen["up"])) > 5
    assert seen["up"] == sorted(seen["up"])
    assert seen["down"] == sorted(seen["up"], reverse=True)
    assert seen["sorted"] == "descending"


def test_the_page_prints_to_paper(folder, browser, tmp_path):
    pdf = tmp_path / "page.pdf"
    chrome(browser, f"--print-to-pdf={pdf}", (folder / "report.html").as_uri())
    told = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True)
    for metric in METRICS:
        assert metric in told.stdout.replace("\n", "")


@pytest.mark.parametrize("name", ["report.tex", "audit.tex"])
def test_latex_compiles_and_fits_its_paper(folder, tmp_path, name):
    for _ in range(2):  # longtable needs to learn its widths
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error",
             f"-output-directory={tmp_path}", folder / name],
            capture_output=True, text=True, errors="replace", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
    too_wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert all(width < 5 for width in too_wide), too_wide
    pdf = tmp_path / name.replace(".tex", ".pdf")
    told = subprocess.run(
        ["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True
    )
    assert "vdso_clock_gettime_monotonic" in told.stdout
    assert "?" not in re.sub(r"\S*\?\S*://\S*", "", told.stdout)  # a character without a font
