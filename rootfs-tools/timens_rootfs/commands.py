# SPDX-License-Identifier: LGPL-2.1-or-later
"""One function per subcommand: calls what does the work, prints what it found."""

import argparse
import json
import re
from dataclasses import asdict
from pathlib import Path

from timens_rootfs import add as adding
from timens_rootfs import archive, cache, image, inside, shelf
from timens_rootfs import check as checking
from timens_rootfs import create as creating
from timens_rootfs import digest as digesting
from timens_rootfs import info as informing
from timens_rootfs.cache import Cache
from timens_rootfs.errors import RootfsError
from timens_rootfs.progress import human

IMAGE_NAME = re.compile(r"sha256:[0-9a-f]{64}|docker://.*")


def pull(args: argparse.Namespace) -> None:
    """pull IMAGE DIR"""
    options = image.Options(
        insecure=args.insecure,
        creds=args.creds,
        auth_file=args.authfile,
        arch=args.arch,
        max_size=args.max_size,
        fresh=args.fresh,
    )
    if args.no_cache:
        found = image.pull_uncached(args.image, args.dir, options)
    else:
        found = image.pull(args.image, args.dir, options, Cache(cache.folder()))
    shelf.note(args.dir, args.image, found.digest)
    print(found.digest)


def unpack(args: argparse.Namespace) -> None:
    """unpack ARCHIVE DIR"""
    options = image.Options(max_size=args.max_size)
    kind = archive.unpack(args.archive, args.dir, options, name=args.image)
    shelf.note(args.dir, f"{kind}:{args.archive.resolve()}")


def create(args: argparse.Namespace) -> None:
    """create DIR"""
    if args.source == "busybox":
        creating.create_busybox(args.dir)
        shelf.note(args.dir, "busybox")
        return
    creating.create_debian(
        args.dir,
        suite=args.suite,
        mirror=args.mirror,
        include=[package for package in args.include.split(",") if package],
        variant=args.variant,
    )
    shelf.note(args.dir, f"debian {args.suite}")


def add(args: argparse.Namespace) -> None:
    """add DIR FILE..."""
    added = adding.add(args.dir, args.files, to=args.to)
    for path in added.named:
        print(path)
    for path in added.needed:
        print(f"{path} (needed)")


def install(args: argparse.Namespace) -> None:
    """install DIR PKG..."""
    inside.install(args.dir, args.packages)


def run(args: argparse.Namespace) -> None:
    """run DIR [-- CMD]"""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    inside.run(args.dir, command, network=args.network)


def rm(args: argparse.Namespace) -> None:
    """rm DIR, or an image of the cache by its name or digest"""
    if not IMAGE_NAME.fullmatch(args.what):
        shelf.remove(Path(args.what), force=args.force)
        return
    store = Cache(cache.folder())
    with store.in_use(alone=True):
        if store.remove(args.what) is None:
            hint = "see what is there: timens-rootfs list"
            raise RootfsError("rm", args.what, "is not in the cache", hint)


def info(args: argparse.Namespace) -> None:
    """info DIR"""
    found = informing.of_tree(args.dir)
    if args.json:
        print(json.dumps(informing.as_json(found), indent=2))
    else:
        print(informing.as_text(found), end="")


def check(args: argparse.Namespace) -> int:
    """check DIR: exit status 1 when the root cannot run here"""
    findings = checking.check(args.dir)
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"{finding.level:<7} {finding.subject}: {finding.text}")
            if finding.hint is not None:
                print(f"{'':<7} hint: {finding.hint}")
    return 1 if any(finding.level == "error" for finding in findings) else 0


def digest(args: argparse.Namespace) -> None:
    """digest DIR"""
    print(digesting.of_tree(args.dir))


def list_all(args: argparse.Namespace) -> None:
    """list"""
    roots = shelf.records()
    images = Cache(cache.folder()).entries()
    if args.json:
        known = {"roots": [asdict(r) for r in roots], "images": [asdict(i) for i in images]}
        print(json.dumps(known, indent=2))
        return
    for record in roots:
        print(f"root   {record.path}  {record.source}  {record.made}")
    for entry in images:
        names = " ".join(entry.names) or "-"
        print(f"image  {entry.digest}  {human(entry.bytes)}  {names}")
