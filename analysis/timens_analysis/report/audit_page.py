# SPDX-License-Identifier: LGPL-2.1-or-later
"""The audit of a published table as a page, and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from timens_analysis import text
from timens_analysis.paper.audit import POST_HOC, MetricAudit
from timens_analysis.paper.errata import Erratum
from timens_analysis.report.document import Cell, Column, Commands, Document, Items, Section, Table
from timens_analysis.report.document import Text as Paragraph

METRIC = Column("Metric", numeric=False)


def lines(source: str, audits: Sequence[MetricAudit], errata: Sequence[Erratum]) -> Iterator[str]:
    """Findings first, then what agrees."""
    slips = sum(f.kind == "slip" for a in audits for f in a.findings)
    yield f"{source}: {len(audits)} metrics, {slips} slips in cells, {len(errata)} in the whole"
    for number, (subject, said) in enumerate(_findings(audits, errata), start=1):
        yield f"{number:3}. {subject}: {said}"
    yield f"agree in every cell: {', '.join(_agreeing(audits)) or 'none'}"


def document(
    source: str, audits: Sequence[MetricAudit], errata: Sequence[Erratum], command: str
) -> Document:
    lead = (
        "Everything below is recomputed from the printed n, means and SDs. A cell agrees when some"
        " table that rounds to the printed one gives it. Where records were whole numbers, the"
        " exact sums behind the rounding are recovered first."
    )
    agreeing = ", ".join(f"`{name}`" for name in _agreeing(audits)) or "none"
    return Document(
        f"Audit of {source}",
        lead,
        [
            Section(
                "Findings",
                [
                    Items(list(_findings(audits, errata))),
                    Paragraph(f"Metrics that agree in every cell: {agreeing}."),
                ],
            ),
            Section("Omnibus tests", [_omnibus(audits)]),
            Section("Pairs", [_pairs(audits)]),
            Section("Overhead", [_overhead(audits)]),
            Section("Reproduce", [Commands([command])]),
        ],
    )


def _findings(
    audits: Sequence[MetricAudit], errata: Sequence[Erratum]
) -> Iterator[tuple[str, str]]:
    for audit in audits:
        for finding in audit.findings:
            yield finding.metric, finding.text
    for erratum in errata:
        yield erratum.title, erratum.text


def _agreeing(audits: Sequence[MetricAudit]) -> list[str]:
    return [audit.printed.name for audit in audits if audit.agrees]


def _omnibus(audits: Sequence[MetricAudit]) -> Table:
    titles = "Printed test,F,df2,p,Welch F,df2 (Welch),p (Welch),ANOVA F,p (ANOVA),F cell"
    columns = (
        METRIC,
        *(Column(t, numeric=t not in ("Printed test", "F cell")) for t in titles.split(",")),
    )
    rows = []
    for audit in audits:
        printed, welch, anova = audit.printed.test, audit.tests["Welch"], audit.tests["ANOVA"]
        slip = next((f for f in audit.findings if "F column" in f.text or "'s F:" in f.text), None)
        rows.append(
            [
                Cell(audit.printed.name),
                Cell(printed.name or text.NONE),
                *(Cell(c.text if c else text.NONE) for c in (printed.f, printed.df2, printed.p)),
                Cell(f"{welch.f.centre:.2f}", welch.f.centre),
                Cell(f"{welch.df2.centre:.2f}", welch.df2.centre),
                Cell(text.p_value(welch.p.centre), welch.p.centre),
                Cell(f"{anova.f.centre:.2f}", anova.f.centre),
                Cell(text.p_value(anova.p.centre), anova.p.centre),
                Cell("is df2" if slip and "F column" in slip.text else "wrong", mark="bad")
                if slip
                else Cell("agrees", mark="good"),
            ]
        )
    return Table("Printed and recomputed", columns, rows)


def _pairs(audits: Sequence[MetricAudit]) -> Table:
    titles = "Level I,Level J,I − J,CI,p,Games–Howell CI,p (GH),Tukey CI,p (Tukey),Follows from"
    words = ("Level I", "Level J", "Follows from")
    columns = (METRIC, *(Column(t, numeric=t not in words) for t in titles.split(",")))
    rows = []
    for audit in audits:
        declared = POST_HOC.get(audit.printed.test.name)
        for pair in audit.pairs:
            p = pair.printed
            cells = [Cell(audit.printed.name), Cell(p.i), Cell(p.j)]
            cells.append(Cell(p.diff.text if p.diff else text.NONE))
            cells.append(Cell(f"[{p.low.text}, {p.high.text}]" if p.low and p.high else text.NONE))
            cells.append(Cell(p.p.text if p.p else text.NONE))
            for method in ("Games-Howell", "Tukey"):
                t = pair.recomputed[method]
                cells += [Cell(f"[{t.low:.3f}, {t.high:.3f}]"), Cell(text.p_value(t.p), t.p)]
            wrong = declared is not None and declared not in pair.fits
            fits = " and ".join(pair.fits) or "neither"
            cells.append(Cell(fits.replace("-", "–"), mark="bad" if wrong else "good"))
            rows.append(cells)
    return Table("Printed post hoc cells, and what both methods give", columns, rows, grouped=1)


def _overhead(audits: Sequence[MetricAudit]) -> Table:
    columns = (METRIC, Column("Level", numeric=False), Column("Over the first level"))
    rows = [
        [
            Cell(audit.printed.name),
            Cell(level.name),
            Cell(f"{text.signed(audit.overhead(level.name), 2)} %", audit.overhead(level.name)),
        ]
        for audit in audits
        for level in audit.printed.levels[1:]
    ]
    return Table("Relative differences of the means", columns, rows, grouped=1)
