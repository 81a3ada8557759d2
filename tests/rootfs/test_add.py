# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-rootfs add: programs with all they need, inside the root and nowhere else."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from rootfs_kit import Tool

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="chroot(2) needs root")


def in_root(root: Path, *command: str) -> str:
    done = subprocess.run(["chroot", root, *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@as_root
def test_a_dynamic_program_runs_with_its_libraries(tool: Tool, busybox_root: Path) -> None:
    done = tool("add", busybox_root, "/usr/bin/bash")

    assert (done.returncode, done.stderr) == (0, "")
    assert in_root(busybox_root, "/usr/bin/bash", "-c", "echo $((6 * 7))") == "42\n"


@as_root
def test_a_script_brings_its_interpreter(tool: Tool, busybox_root: Path, tmp_path: Path) -> None:
    script = tmp_path / "hello"
    script.write_text("#!/bin/bash\necho ${BASH_VERSION:+bash}\n")
    script.chmod(0o755)

    done = tool("add", busybox_root, script, "--to", "/opt/bin/")

    assert (done.returncode, done.stderr) == (0, "")
    assert in_root(busybox_root, "/opt/bin/hello") == "bash\n"


def test_a_static_program_brings_nothing_else(tool: Tool, busybox_root: Path) -> None:
    done = tool("add", busybox_root, "/bin/busybox", "--to", "/usr/bin/again")

    assert (done.returncode, done.stdout) == (0, "/usr/bin/again\n")
    assert not (busybox_root / "lib64").exists()


def test_a_folder_keeps_its_links_and_modes(tool: Tool, busybox_root: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep/data").write_text("1")
    (tree / "link").symlink_to("deep/data")

    done = tool("add", busybox_root, tree)

    assert (done.returncode, done.stderr) == (0, "")
    assert (busybox_root / "opt/tree/deep/data").read_text() == "1"
    assert (busybox_root / "opt/tree/link").readlink() == Path("deep/data")


def test_a_link_in_the_root_cannot_lead_the_copy_out(
    tool: Tool, busybox_root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (busybox_root / "trap").symlink_to(outside)

    done = tool("add", busybox_root, "/bin/busybox", "--to", "/trap/x")

    assert (done.returncode, done.stderr) == (0, "")
    assert list(outside.iterdir()) == []
    assert (busybox_root / str(outside).lstrip("/") / "x").is_file()


def test_the_path_printed_is_where_the_file_lies(tool: Tool, busybox_root: Path) -> None:
    printed = tool.ok("add", busybox_root, "/bin/busybox", "--to", "../../../../tmp/x")

    assert printed == "/tmp/x\n"
    assert (busybox_root / "tmp/x").is_file()


def test_a_missing_file_changes_nothing_and_hints_at_the_program(
    tool: Tool, busybox_root: Path
) -> None:
    before = sorted(busybox_root.rglob("*"))

    done = tool("add", busybox_root, "/bin/busybox", "env")

    assert done.returncode == 1
    assert done.stderr == (
        "timens-rootfs: add: env: no such file\nhint: did you mean /usr/bin/env\n"
    )
    assert sorted(busybox_root.rglob("*")) == before


def test_the_host_itself_is_no_target(tool: Tool) -> None:
    done = tool("add", "/", "/bin/busybox")

    assert done.returncode == 1
    assert done.stderr.startswith("timens-rootfs: add: /: is the root of this host\n")


def test_a_program_for_a_newer_glibc_is_refused(tool: Tool, busybox_root: Path) -> None:
    """A glibc whose newest symbol version is 2.5 stands in for an old distribution."""
    tool.ok("add", busybox_root, "/usr/bin/bash")
    libc = next(busybox_root.glob("lib/*/libc.so.6"))
    libc.write_bytes(re.sub(rb"GLIBC_2\.\d\d", b"GLIBC_2.05", libc.read_bytes()))
    before = tool.ok("digest", busybox_root)

    said = tool.refusal("add", busybox_root, "/usr/bin/bash", "--to", "/usr/bin/second")

    assert re.search(r"/usr/bin/bash: needs glibc 2\.\d\d, the root has 2\.9\n", said)
    assert "hint: link it statically, or create the root from a newer suite\n" in said
    assert tool.ok("digest", busybox_root) == before
