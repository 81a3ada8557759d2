# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engines' files that are installed name the programs that are installed."""

import json
import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_installed_files_name_the_programs_where_they_are_installed(tmp_path):
    build = tmp_path / "build"
    setup = ["meson", "setup", build, PROJECT, "--prefix", "/opt/clocks", "-Dtests=false"]
    subprocess.run(setup, check=True, capture_output=True)
    introspect = ["meson", "introspect", "--installed", build]
    done = subprocess.run(introspect, check=True, capture_output=True, text=True)
    installed = set(json.loads(done.stdout).values())
    files = [path for path in PROJECT.glob("contrib/*") if path.name != "meson.build"]
    ours = [path.name for path in files if "/usr/local/bin" in path.read_text("utf-8")]
    assert len(ours) >= 5
    targets = [f"contrib/{name}" for name in ours]
    subprocess.run(["ninja", "-C", build, *targets], check=True, capture_output=True)

    for name in ours:
        named = re.findall(r"/[\w/]+/timens-\w+", (build / "contrib" / name).read_text("utf-8"))
        assert named, name
        assert set(named) <= installed, name
        assert f"/opt/clocks/share/timens-run/contrib/{name}" in installed
