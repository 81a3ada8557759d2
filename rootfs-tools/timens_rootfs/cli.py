# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line: words in, one call, exit status out.  What is printed: commands.py."""

import argparse
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from timens_rootfs import __version__, commands, userns
from timens_rootfs.errors import RootfsError, os_cause

PROGRAM = "timens-rootfs"
INTERRUPTED = 130  # as a shell has it: 128 + SIGINT
SIZE = re.compile(r"(\d+)([KMGT]?)(?:i?B)?", re.IGNORECASE)
Subcommands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[argparse.Namespace], int | None]
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; 0, or 1 after a RootfsError (argparse exits with 2 itself)."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = parser().parse_args(words)
    os.umask(0o022)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if args.owners:
            userns.enter(words)
        run: Command = args.run
        status = run(args) or 0
        sys.stdout.flush()  # an answer that does not arrive is an error of ours
        return status
    except RootfsError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        if error.hint is not None:
            print(f"hint: {error.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted, nothing was left behind", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads our output has seen enough; there is nobody left to tell.
        _drop_output()
        return 1
    except OSError as error:
        # Whatever touches a file says so itself; what has no name is the output.
        thing = os.fsdecode(error.filename) if error.filename is not None else "standard output"
        print(f"{PROGRAM}: {thing}: {os_cause(error)}", file=sys.stderr)
        _drop_output()
        return 1


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def size_in_bytes(text: str) -> int:
    """500M, 2GiB, 4096: powers of 1024."""
    match = SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size like 500M or 2G")
    return int(match[1]) << (10 * POWERS[match[2].upper()])


def word(text: str) -> str:
    """Anything but nothing: an empty name is a variable of a script that was not set."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def path(text: str) -> Path:
    """A path; the empty one would mean the current folder."""
    return Path(word(text))


def parser() -> argparse.ArgumentParser:
    """All subcommands and their options."""
    top = argparse.ArgumentParser(
        prog=PROGRAM,
        description="From any image to a root filesystem for timens-run.",
        epilog="All else is in timens-rootfs(1).",
    )
    top.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subs = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _making(subs)
    _changing(subs)
    _looking(subs)
    return top


def _command(
    subs: Subcommands, name: str, run: Command, text: str, *, owners: bool = True
) -> argparse.ArgumentParser:
    """A subcommand; `owners`: it meets files of other owners, so it wants a user namespace."""
    sub = subs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    sub.set_defaults(run=run, owners=owners)
    return sub


def _making(subs: Subcommands) -> None:
    sub = _command(subs, "pull", commands.pull, "make a root from an image of any transport")
    sub.add_argument(
        "image", metavar="IMAGE", type=word, help="docker://HOST/NAME:TAG, oci:PATH:TAG, ..."
    )
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("--insecure", action="store_true", help="the registry has no valid TLS")
    sub.add_argument("--creds", metavar="USER:PASSWORD", help="log in at the registry")
    sub.add_argument("--authfile", metavar="FILE", type=path, help="containers-auth.json(5)")
    sub.add_argument("--arch", help="of an image for several [this host's]")
    sub.add_argument("--fresh", action="store_true", help="ask the registry again")
    sub.add_argument("--no-cache", action="store_true", help="neither use nor fill the cache")
    _max_size(sub)

    sub = _command(subs, "unpack", commands.unpack, "make a root from an archive")
    sub.add_argument("archive", metavar="ARCHIVE", type=path, help="docker save, OCI, tar, ...")
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("--image", metavar="NAME", help="of an archive that holds several")
    _max_size(sub)

    sub = _command(subs, "create", commands.create, "make a root from nothing")
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("--from", dest="source", choices=("debian", "busybox"), default="debian")
    sub.add_argument("--suite", default="stable", help="suite or code name [stable]")
    sub.add_argument("--mirror", metavar="URL", help="the archive [the one of this host]")
    sub.add_argument("--include", metavar="PKG,...", default="", help="more packages")
    sub.add_argument("--variant", default="minbase", help="mmdebstrap's --variant [minbase]")


def _max_size(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--max-size", metavar="SIZE", type=size_in_bytes, help="stop beyond it: 2G")


def _changing(subs: Subcommands) -> None:
    sub = _command(subs, "add", commands.add, "put files into a root, with all they need")
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("files", metavar="FILE", type=path, nargs="+")
    sub.add_argument(
        "--to", metavar="PATH", type=word, help="where [programs: /usr/bin, folders: /opt]"
    )

    sub = _command(subs, "install", commands.install, "install packages of the root's own kind")
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("packages", metavar="PKG", nargs="+")

    sub = _command(subs, "run", commands.run, "run a command in a root", owners=False)
    sub.add_argument("--network", action="store_true", help="with the network of this host")
    sub.add_argument("dir", metavar="DIR", type=path)
    sub.add_argument("command", metavar="CMD", nargs=argparse.REMAINDER)

    sub = _command(subs, "rm", commands.rm, "remove a root, or an image from the cache")
    sub.add_argument("what", metavar="DIR|IMAGE|DIGEST", type=word)
    sub.add_argument("--force", action="store_true", help="a root that was not made here, too")


def _looking(subs: Subcommands) -> None:
    looking: tuple[tuple[str, Command, str, bool], ...] = (
        ("info", commands.info, "tell what a root is", True),
        ("check", commands.check, "tell whether a root can run here", True),
        ("digest", commands.digest, "print a digest of content and metadata", False),
    )
    for name, run, text, has_json in looking:
        sub = _command(subs, name, run, text)
        sub.add_argument("dir", metavar="DIR", type=path)
        if has_json:
            sub.add_argument("--json", action="store_true")
    sub = _command(subs, "list", commands.list_all, "list roots and cached images", owners=False)
    sub.add_argument("--json", action="store_true")
