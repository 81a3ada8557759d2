# SPDX-License-Identifier: LGPL-2.1-or-later
"""A line on the terminal for what takes longer than two seconds; silence elsewhere."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rootfs_kit import PROGRAM, BadRegistry, MadeImage, Tool, quiet


@pytest.fixture
def stalled(image: MadeImage, tmp_path: Path) -> Iterator[BadRegistry]:
    """A registry that stops in the middle of a layer."""
    quiet("skopeo", "copy", "-q", image.reference, f"oci:{tmp_path}/served:1")
    registry = BadRegistry(tmp_path / "served", lambda content: content, stall=True)
    yield registry
    registry.close()


def test_a_slow_pull_reports_on_a_terminal(tool: Tool, desk: Path, stalled: BadRegistry) -> None:
    ours, theirs = pty.openpty()
    command = [PROGRAM, "pull", "--insecure", stalled.reference, desk / "root"]
    start = time.monotonic()
    with subprocess.Popen(command, stderr=theirs, stdin=theirs, env=tool.env) as child:
        os.close(theirs)
        ready, _, _ = select.select([ours], [], [], 30)
        first = os.read(ours, 200).decode()
        took_s = time.monotonic() - start
        child.send_signal(signal.SIGTERM)
    os.close(ours)

    assert ready
    assert took_s >= 2.0
    pattern = rf"\r\x1b\[Kcopying {re.escape(stalled.reference)}: \d+ s, \d[\d.]* [KMG]?i?B"
    assert re.match(pattern, first)


def test_the_same_pull_is_quiet_in_a_pipe(tool: Tool, desk: Path, stalled: BadRegistry) -> None:
    child = tool.start("pull", "--insecure", stalled.reference, desk / "root")
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(3.5)

    stalled.released.set()
    _, said = child.communicate(timeout=30)

    assert (child.returncode, said) == (0, "")
