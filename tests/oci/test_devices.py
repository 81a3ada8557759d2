# SPDX-License-Identifier: LGPL-2.1-or-later
"""Device rules, kept by files of cgroup v1 and, on a host with v2 alone, by a program.

Nobody has a driver for major 240 ("local use"), so that what is allowed ends with "No such device
or address", and what is not with "Operation not permitted".
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oci_kit import Bundle, Runtime

V2_ALONE = r"""
    awk '$0 ~ / - cgroup / { print $5 }' /proc/self/mountinfo | sort -r | xargs -n 1 umount
    exec "$@"
"""
DENY_ALL = {"allow": False, "access": "rwm"}


@pytest.fixture(params=["this host", "cgroup v2 alone"])
def host(request: pytest.FixtureRequest, runtime: Runtime) -> Runtime:
    if request.param != "this host":
        runtime.prefix = ["unshare", "--mount", "sh", "-ec", V2_ALONE, "sh"]
    return runtime


def rule(access: str, minor: int | None = 1, **more: Any) -> dict[str, Any]:
    numbers = {"major": 240} if minor is None else {"major": 240, "minor": minor}
    return {"allow": True, "type": "c", **numbers, "access": access, **more}


def may(
    host: Runtime, bundle: Bundle, rules: list[dict[str, Any]], minor: int = 1, kind: str = "c"
) -> str:
    """The accesses that opening the device is allowed for, of r, w and b (both at once)."""
    bundle.linux["devices"] = [{"path": "/dev/x", "type": kind, "major": 240, "minor": minor}]
    bundle.linux["resources"] = {"devices": rules}
    script = "cat /dev/x; echo >/dev/x; echo 1<>/dev/x"
    done = host("run", "--bundle", bundle.write("sh", "-c", script), "box")
    allowed = ["No such device" in line for line in done.stderr.splitlines()]
    assert len(allowed) == 3, done.stderr
    return "".join(a for a, yes in zip("rwb", allowed, strict=True) if yes)


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ([DENY_ALL], ""),
        ([DENY_ALL, rule("rwm")], "rwb"),
        ([DENY_ALL, rule("r")], "r"),
        ([DENY_ALL, rule("r"), rule("w")], "rwb"),  # together they grant both
        ([DENY_ALL, rule("w", minor=2)], ""),
        ([DENY_ALL, rule("w", minor=None)], "w"),
        ([DENY_ALL, rule("rw", type="b")], ""),
        ([DENY_ALL, rule("rw", type="u")], "rwb"),
        ([DENY_ALL, rule("rw", type="a")], "rwb"),
        ([DENY_ALL, rule("rw", type="a", minor=2)], ""),  # not everything, despite the "a"
        ([DENY_ALL, rule("rwm"), rule("w", allow=False)], "r"),
        ([rule("rwm"), DENY_ALL], ""),
        ([rule("r", allow=False)], "w"),
        ([{"allow": True}], "rwb"),
    ],
)
def test_the_last_rule_that_speaks_of_an_access_decides(
    host: Runtime, bundle: Bundle, rules: list[dict[str, Any]], wanted: str
):
    assert may(host, bundle, rules) == wanted


def test_block_devices_have_rules_of_their_own(host: Runtime, bundle: Bundle):
    rules = [DENY_ALL, rule("rw", type="b")]
    assert may(host, bundle, rules, kind="b") == "rwb"
    assert may(host, bundle, [DENY_ALL, rule("rw")], kind="b") == ""


def test_what_every_container_needs_is_always_allowed(host: Runtime, bundle: Bundle):
    bundle.linux["resources"] = {"devices": [DENY_ALL]}
    script = "cat /dev/null && head -c 3 /dev/zero /dev/urandom >/dev/null && echo yes"
    folder = bundle.write("sh", "-c", script)
    assert host.ok("run", "--bundle", folder, "box") == "yes\n"


def test_an_update_replaces_the_rules_of_before(
    host: Runtime, bundle: Bundle, tmp_path: Path, stay: Callable[[], None]
):
    """Also on v2, where every program that is attached has a veto."""
    stay()
    bundle.linux["devices"] = [{"path": "/dev/x", "type": "c", "major": 240, "minor": 1}]
    bundle.linux["resources"] = {"devices": [DENY_ALL]}
    host.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
    try:
        host.ok("start", "box")
        assert "Operation not permitted" in host("exec", "box", "cat", "/dev/x").stderr
        (tmp_path / "new").write_text(json.dumps({"devices": [DENY_ALL, rule("r")]}))
        host.ok("update", "--resources", tmp_path / "new", "box")
        assert "No such device" in host("exec", "box", "cat", "/dev/x").stderr
        assert "Operation not permitted" in host("exec", "box", "sh", "-c", "echo >/dev/x").stderr
    finally:
        host.ok("delete", "--force", "box")


@pytest.fixture
def stay(host: Runtime) -> Callable[[], None]:
    """One mount namespace for all calls: exec enters what differs from the caller's."""

    def enter() -> None:
        if not host.prefix:
            return
        script = V2_ALONE.replace('exec "$@"', "echo ready; exec sleep 60")
        child = subprocess.Popen(
            ["unshare", "--mount", "sh", "-ec", script], stdout=subprocess.PIPE, text=True
        )
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        host.prefix = ["nsenter", f"--mount=/proc/{child.pid}/ns/mnt"]

    children: list[subprocess.Popen[str]] = []
    yield enter
    for child in children:
        child.kill()
        child.communicate()
