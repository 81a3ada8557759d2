# SPDX-License-Identifier: LGPL-2.1-or-later
"""Find the programs that do the work, run them, and turn what they say into one error."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from timens_rootfs.errors import RootfsError

# Program -> the Debian package that brings it.
PACKAGES = {
    "busybox": "busybox-static",
    "mmdebstrap": "mmdebstrap",
    "newuidmap": "uidmap",
    "skopeo": "skopeo",
    "tar": "tar",
    "umoci": "umoci",
    "unshare": "util-linux",
    "xz": "xz-utils",
    "zstd": "zstd",
}
# apt and mmdebstrap live in folders that a plain user's PATH may lack.
SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"
CAUSE_LINES = 3


def find(program: str, *, step: str) -> Path:
    """The path of a program; a missing one is an error that names its package."""
    found = shutil.which(program, path=SEARCH_PATH)
    if found is None:
        package = PACKAGES.get(program, program)
        raise RootfsError(step, program, "program not found", f"apt-get install {package}")
    return Path(found)


def run(
    argv: Sequence[str | Path], *, step: str, thing: object, env: Mapping[str, str] | None = None
) -> str:
    """Run a program to its end; returns its standard output.

    A program that fails becomes a RootfsError whose cause is the last thing it said.
    """
    program = find(str(argv[0]), step=step)
    done = subprocess.run(
        [program, *argv[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8", **(env or {})},
        check=False,
    )
    if done.returncode != 0:
        raise RootfsError(step, thing, f"{argv[0]}: {last_words(done.stderr, done.returncode)}")
    return done.stdout


def last_words(stderr: str, status: int) -> str:
    """What a failed program said, in one line: its errors, or else its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "FATA", "error", "Error"))]
    said = (errors or lines[-1:])[:CAUSE_LINES]
    return "; ".join(said) if said else f"exit status {status}"
