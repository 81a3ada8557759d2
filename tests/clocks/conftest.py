# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the clocks share."""

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder(shared_folder: Path) -> Iterator[Path]:
    """An empty folder in which everybody may write; nothing else lies there after a test."""
    path = shared_folder / f"folder-{uuid.uuid4()}"
    path.mkdir()
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)
