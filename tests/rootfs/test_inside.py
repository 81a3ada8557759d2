# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs run and install: changes made in a timens-run container."""

from pathlib import Path

from rootfs_kit import Tool, names_in


def fake_manager(root: Path, script: str) -> None:
    """Stands in for Alpine's apk: the real one needs a network."""
    (root / "sbin/apk").write_text(f"#!/bin/sh\n{script}\n")
    (root / "sbin/apk").chmod(0o755)


def test_run_changes_the_root_and_passes_on_the_status(tool: Tool, busybox_root: Path) -> None:
    done = tool("run", busybox_root, "--", "sh", "-c", "echo $$; echo made >/opt/new; exit 7")

    assert done.returncode == 7
    assert int(done.stdout) < 10  # a process number of its own namespace
    assert (busybox_root / "opt/new").read_text() == "made\n"


def test_install_uses_the_manager_of_the_root(tool: Tool, busybox_root: Path) -> None:
    fake_manager(busybox_root, 'echo "$@" >/opt/argv; ls /sys/class/net >/opt/net')

    tool.ok("install", busybox_root, "curl", "g++")

    assert (busybox_root / "opt/argv").read_text() == "add --no-cache -- curl g++\n"
    host_net = sorted(path.name for path in Path("/sys/class/net").iterdir())
    assert (busybox_root / "opt/net").read_text().split() == host_net
    assert names_in(busybox_root.parent) == ["root"]


def test_a_failed_install_changes_nothing(tool: Tool, busybox_root: Path) -> None:
    fake_manager(busybox_root, "echo half >/opt/half; echo 'error: no such package' >&2; exit 3")
    before = tool.ok("digest", busybox_root)

    said = tool.refusal("install", busybox_root, "nonesuch")

    assert said == "timens-rootfs: install: nonesuch: apk: no such package\n"
    assert tool.ok("digest", busybox_root) == before
    assert names_in(busybox_root.parent) == ["root"]


def test_a_root_without_a_manager_is_told_so(tool: Tool, busybox_root: Path) -> None:
    said = tool.refusal("install", busybox_root, "curl")

    assert said.startswith(f"timens-rootfs: install: {busybox_root}: has no package manager\n")
    assert "timens-rootfs add" in said


def test_an_option_is_no_package(tool: Tool, busybox_root: Path) -> None:
    fake_manager(busybox_root, "touch /opt/ran")

    said = tool.refusal("install", busybox_root, "--", "--root=/")

    assert "--root=/: is not the name of a package" in said
