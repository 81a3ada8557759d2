# SPDX-License-Identifier: LGPL-2.1-or-later
"""A root as Alpine's: busybox, and programs linked with musl, from Debian's packages."""

import json
import subprocess
from pathlib import Path

from rootfs_kit import LAUNCHER, Tool, quiet

SOURCE = """
#include <stdio.h>
#include <time.h>
int main(void) {
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return printf("%lld\\n", (long long)now.tv_sec) < 0;
}
"""


def test_a_musl_program_brings_musl_and_runs_with_shifted_clocks(
    tool: Tool, busybox_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "uptime.c").write_text(SOURCE)
    program = tmp_path / "musl-uptime"
    quiet("musl-gcc", "-O1", "-o", program, tmp_path / "uptime.c")

    added = tool.ok("add", busybox_root, program).split("\n")
    shifted = subprocess.run(
        [LAUNCHER, "--boottime", "+864000", busybox_root, "musl-uptime"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert added[0] == "/usr/bin/musl-uptime"
    assert added[1].startswith("/lib/ld-musl-")
    assert added[2:] == [""]  # musl is library and interpreter in one: nothing of glibc
    assert (shifted.returncode, shifted.stderr) == (0, "")
    assert int(shifted.stdout) >= 864000
    assert not (busybox_root / "lib64").exists()


def test_info_and_check_know_musl(tool: Tool, busybox_root: Path, tmp_path: Path) -> None:
    (tmp_path / "sh.c").write_text("int main(void) { return 0; }")
    quiet("musl-gcc", "-o", tmp_path / "sh", tmp_path / "sh.c")

    tool.ok("add", busybox_root, tmp_path / "sh", "--to", "/bin/sh")

    assert json.loads(tool.ok("info", "--json", busybox_root))["libc"] == "musl"
    assert "error" not in tool.ok("check", busybox_root)
