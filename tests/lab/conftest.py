# SPDX-License-Identifier: LGPL-2.1-or-later
"""A runner for `timens-study lab`, and one quick run of all experiments for all tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BIN = Path(os.environ.get("TIMENS_BIN", Path(__file__).parents[2] / "build/bin")).absolute()
Lab = Callable[..., subprocess.CompletedProcess[str]]


def run_lab(*words: str | Path, prefix: tuple[str, ...] = (), **more: Any) -> Any:
    command = [*prefix, str(BIN / "timens-study"), "lab", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)


@pytest.fixture
def lab() -> Lab:
    return run_lab


@pytest.fixture(scope="session")
def bench() -> Path:
    return BIN / "timens-bench"


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `lab all --quick`, which does not ask for a switch of the clock source."""
    folder = tmp_path_factory.mktemp("lab") / "results"
    done = run_lab("all", "--quick", "--quiet", "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder
