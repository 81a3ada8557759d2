# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of timens-rootfs share beside fixtures."""

import subprocess
from collections.abc import Callable
from pathlib import Path

TREE = Path(__file__).parents[2]
PROGRAM = TREE / "build/bin/timens-rootfs"

Run = Callable[..., subprocess.CompletedProcess[str]]


def names_in(folder: Path) -> list[str]:
    """Names of all entries, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())
