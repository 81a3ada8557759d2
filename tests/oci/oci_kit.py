# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of timens-oci share beside fixtures."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from kit import PROJECT

PROGRAM = PROJECT / "build/bin/timens-oci"
TIMEOUT_S = 20


class Runtime:
    """timens-oci, as an engine calls it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "state"
        self.prefix: list[str] = []
        self.options: list[str] = []
        self.pids: set[int] = set()  # cgroups have the number of their maker in their names

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Output goes to files: a container that lives on would keep pipes open."""
        own = [str(PROGRAM), "--root", str(self.root), *self.options]
        argv = [*self.prefix, *own, *map(str, words)]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            with subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err
            ) as process:
                self.pids.add(process.pid)
                try:
                    process.wait(TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(argv, process.returncode, out.read(), err.read())

    def ok(self, *words: object) -> str:
        done = self(*words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def state(self, name: str) -> dict[str, Any]:
        return json.loads(self.ok("state", name))

    def cgroups(self) -> list[str]:
        """Those that are left; somebody else may run containers meanwhile."""
        return sorted(c for c in our_cgroups() if int(c.rpartition("-")[2]) in self.pids)

    def ids(self) -> list[str]:
        names = [p.name for p in self.root.iterdir()] if self.root.exists() else []
        return sorted(name for name in names if not name.startswith("@"))  # @filters is no id


class Bundle:
    """A config.json beside a root filesystem that is shared by all tests."""

    def __init__(self, folder: Path, rootfs: Path) -> None:
        self.folder = folder
        done = subprocess.run([PROGRAM, "spec", "--bundle", folder], check=True)
        assert done.returncode == 0
        self.config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        self.config["root"] = {"path": str(rootfs), "readonly": True}

    @property
    def linux(self) -> dict[str, Any]:
        return self.config["linux"]

    def write(self, *args: str, **members: object) -> Path:
        """Writes config.json; args are the program's."""
        self.config.update(members)
        if args:
            self.config["process"]["args"] = list(args)
        (self.folder / "config.json").write_text(json.dumps(self.config))
        return self.folder

    def shift(self, monotonic_s: int, boottime_s: int) -> None:
        self.linux["timeOffsets"] = {
            "monotonic": {"secs": monotonic_s, "nanosecs": 0},
            "boottime": {"secs": boottime_s, "nanosecs": 0},
        }


def our_cgroups() -> set[str]:
    """Cgroups that timens-oci has made by itself, in all trees of this host."""
    found: set[str] = set()
    for tree in [Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()]:
        folder = tree / "timens-oci"
        if folder.is_dir():
            found |= {str(p) for p in folder.iterdir() if p.is_dir()}
    return found
