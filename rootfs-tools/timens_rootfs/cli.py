# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line: the only layer that prints or exits."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from timens_rootfs import __version__, add, create, userns
from timens_rootfs.errors import RootfsError

PROGRAM = "timens-rootfs"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; 0, or 1 after a RootfsError (argparse exits with 2 itself)."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = parser().parse_args(words)
    os.umask(0o022)
    try:
        userns.enter(words)
        status = args.run(args)
    except RootfsError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        if error.hint is not None:
            print(f"hint: {error.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted, nothing was left behind", file=sys.stderr)
        return 130
    return int(status or 0)


def parser() -> argparse.ArgumentParser:
    """All subcommands and their options."""
    top = argparse.ArgumentParser(prog=PROGRAM, description="Make root filesystems for timens-run.")
    top.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    sub = commands.add_parser("create", help="make a root filesystem from nothing")
    sub.add_argument("dir", metavar="DIR", type=Path)
    sub.add_argument("--from", dest="source", choices=("debian", "busybox"), default="debian")
    sub.add_argument("--suite", default="stable", help="Debian suite or code name [stable]")
    sub.add_argument("--mirror", metavar="URL", help="the archive [the one that this host uses]")
    sub.add_argument("--include", metavar="PKG,...", default="", help="more Debian packages")
    sub.add_argument("--variant", default="minbase", help="mmdebstrap's --variant [minbase]")
    sub.set_defaults(run=run_create)

    sub = commands.add_parser("add", help="put files into a root, with the libraries they need")
    sub.add_argument("dir", metavar="DIR", type=Path)
    sub.add_argument("files", metavar="FILE", type=Path, nargs="+")
    sub.add_argument("--to", metavar="PATH", help="where [programs: /usr/bin, folders: /opt]")
    sub.set_defaults(run=run_add)
    return top


def run_create(args: argparse.Namespace) -> None:
    """create DIR"""
    if args.source == "busybox":
        create.create_busybox(args.dir)
        return
    create.create_debian(
        args.dir,
        suite=args.suite,
        mirror=args.mirror,
        include=[package for package in args.include.split(",") if package],
        variant=args.variant,
    )


def run_add(args: argparse.Namespace) -> None:
    """add DIR FILE..."""
    added = add.add(args.dir, args.files, to=args.to)
    for path in added.named:
        print(path)
    for path in added.needed:
        print(f"{path} (needed)")
