# SPDX-License-Identifier: LGPL-2.1-or-later
"""Look for what would spoil a measurement on this host, and say what to do about it.

Exit status: 0, or 1 when a study is not possible like this.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from timens_analysis.study import doctor, host

MARKS = {"good": "ok", "note": "note", "warning": "WARN", "problem": "STOP"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Only the form of the answer."""
    parser.add_argument("--json", action="store_true", help="findings and the host, for programs")


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    findings = doctor.examine()
    if args.json:
        answer = {"findings": [asdict(finding) for finding in findings], "host": host.describe()}
        print(json.dumps(answer, indent=1))
    else:
        width = max(len(finding.check) for finding in findings)
        for finding in findings:
            print(f"{MARKS[finding.level]:4}  {finding.check:{width}}  {finding.found}")
            if finding.advice:
                print(f"{'':{width + 8}}-> {finding.advice}")
    return 1 if doctor.worst(findings) == "problem" else 0
