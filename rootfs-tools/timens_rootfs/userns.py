# SPDX-License-Identifier: LGPL-2.1-or-later
"""Without privileges: work as root of a user namespace, so that owners other than root exist.

The map is the one that timens-run makes for the same user: 0 is the user, 1 and up are the
ranges of subuid(5).  Without ranges everything belongs to the user, which is root inside.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from timens_rootfs import tools
from timens_rootfs.errors import RootfsError

MARK = "TIMENS_ROOTFS_IN_USERNS"
PROGRAM = "TIMENS_ROOTFS_PROGRAM"
START = """\
import sys
try:
    sys.path.insert(0, {folder!r})
    from timens_rootfs.cli import main
    sys.exit(main())
except KeyboardInterrupt:
    print("timens-rootfs: interrupted", file=sys.stderr)
    sys.exit(130)
"""
ENTER = ("--user", "--map-root-user", "--map-auto", "--mount", "--")


def owners_kept() -> bool:
    """Whether files can get owners other than the one who runs this."""
    return os.geteuid() == 0


def inside() -> bool:
    """Whether this is root of a user namespace that enter() made."""
    return MARK in os.environ


def program() -> str:
    """The file that the user started."""
    return os.environ.get(PROGRAM, sys.argv[0])


def enter(argv: Sequence[str]) -> None:
    """Run this program again as root of a user namespace with the ranges of this user.

    Returns where there is nothing to gain: for root, and where there are no ranges.
    """
    if os.geteuid() == 0:
        return
    try:
        unshare = str(tools.find("unshare", step="user namespace"))
        tools.find("newuidmap", step="user namespace")
    except RootfsError:
        return
    probe = subprocess.run([unshare, *ENTER, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        return
    start = START.format(folder=str(Path(__file__).parents[1]))
    os.environ[MARK] = str(os.getuid())
    os.environ[PROGRAM] = program()
    os.execv(unshare, [unshare, *ENTER, sys.executable, "-c", start, *argv])
