# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of timens-bench share: the program, and its records checked by the schema."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

TOP = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("TIMENS_BENCH", TOP / "build/bin/timens-bench"))

Record = dict[str, Any]
Bench = Callable[..., subprocess.CompletedProcess[str]]
Measure = Callable[..., list[Record]]

# The keys that the study adds to a record (schemas/record.schema.json).
STUDY = {"schema": "timens-record/1", "seq": 0, "arm": "baseline", "block": 0, "attempt": 1}


@pytest.fixture
def program() -> Path:
    return PROGRAM


@pytest.fixture
def bench() -> Bench:
    """Run timens-bench; stdout and stderr apart, as text."""

    def run(*args: str, timeout_s: float = 30, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *args],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **more,
        )

    return run


@pytest.fixture(scope="session")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((TOP / "schemas/record.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture
def measure(bench: Bench, validator: jsonschema.Draft202012Validator) -> Measure:
    """Run `timens-bench measure`, which must succeed; every record must fit the schema."""

    def run(*args: str, **more: Any) -> list[Record]:
        result = bench("measure", *args, **more)
        assert (result.returncode, result.stderr) == (0, "")
        records: list[Record] = [json.loads(line) for line in result.stdout.splitlines()]
        for record in records:
            validator.validate(STUDY | record)
        return records

    return run
