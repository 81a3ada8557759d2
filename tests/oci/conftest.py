# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures: a bundle, and the runtime with a state folder of its own.

When a test is over nothing of it may be left: containers, cgroups and mounts are a failure.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oci_kit import Bundle, Runtime


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    runtime = Runtime(tmp_path)
    yield runtime
    runtime.prefix = []
    left = runtime.ids()
    for name in left:
        runtime("delete", "--force", name)
    assert not left, "containers were left"
    assert runtime.cgroups() == []
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    assert [m for m in mounts if str(tmp_path) in m or "/timens-tests-" in m] == []


@pytest.fixture
def bundle(tmp_path: Path, rootfs: Path) -> Bundle:
    return Bundle(tmp_path, rootfs)


@pytest.fixture
def running(runtime: Runtime, bundle: Bundle) -> Iterator[Callable[..., str]]:
    """Starts a container that sleeps; returns its id."""
    names: list[str] = []

    def run(name: str = "box") -> str:
        runtime.ok("create", "--bundle", bundle.write("sleep", "100"), name)
        names.append(name)
        runtime.ok("start", name)
        return name

    yield run
    for name in names:
        runtime.ok("delete", "--force", name)
