#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Race timens-rootfs against skopeo + umoci and against podman, on one loopback registry.

usage: run.py [--rounds N]      (as root: podman mounts; `make bench-rootfs` calls it)

Two images of current Debian stable, of one layer and of two.  Every round runs each contestant
once, in an order that rotates, with empty caches and stores, in memory (/dev/shm), so that no
disk decides.  Printed are medians, and medians of the per-round ratios to the bare tools, of
elapsed time and of processor time (user and system, of the contestant's processes).
"""

import argparse
import contextlib
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

TOOL = Path(__file__).parents[2] / "build/bin/timens-rootfs"
CONFIG = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/registry}}}}
http: {{addr: "127.0.0.1:{port}"}}
log: {{level: error, accesslog: {{disabled: true}}}}
"""


def run(*argv: object, **env: object) -> None:
    """Run a program that must succeed, without its chatter."""
    words = {key: str(value) for key, value in env.items()}
    done = subprocess.run(
        list(map(str, argv)),
        capture_output=True,
        text=True,
        env={**os.environ, **words},
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"bench-rootfs: {argv[0]}: {done.stderr.strip()}")


@contextlib.contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Debian's docker-registry on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "registry.yml").write_text(CONFIG.format(folder=folder, port=port))
    command = ["docker-registry", "serve", folder / "registry.yml"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                time.sleep(0.05)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


def fill(folder: Path, host: str) -> None:
    """debian:1 is one layer, as the official image is; debian:2 is it with a program on top."""
    layout, bundle = folder / "layout", folder / "bundle"
    run("umoci", "init", "--layout", layout)
    run("umoci", "new", "--image", f"{layout}:1")
    run("umoci", "unpack", "--image", f"{layout}:1", bundle)
    (bundle / "rootfs").rmdir()
    run(TOOL, "create", bundle / "rootfs", XDG_DATA_HOME=folder / "data")
    run("umoci", "repack", "--image", f"{layout}:1", bundle)
    shutil.rmtree(bundle)
    run("umoci", "unpack", "--image", f"{layout}:1", bundle)
    run(TOOL, "add", bundle / "rootfs", "/usr/bin/openssl")
    run("umoci", "repack", "--image", f"{layout}:2", bundle)
    shutil.rmtree(bundle)
    for tag in (1, 2):
        url = f"docker://{host}/debian:{tag}"
        run("skopeo", "copy", "--dest-tls-verify=false", f"oci:{layout}:{tag}", url)


def ours(url: str, work: Path) -> None:
    run(TOOL, "pull", "--insecure", url, work / "root", **caches(work))


def ours_again(url: str, work: Path) -> None:
    run(TOOL, "pull", "--insecure", url, work / "again", **caches(work))


def bare(url: str, work: Path) -> None:
    run("skopeo", "copy", "--src-tls-verify=false", url, f"oci:{work}/layout:1")
    run("umoci", "unpack", "--image", f"{work}/layout:1", work / "bundle")


def barest(url: str, work: Path) -> None:
    run("skopeo", "copy", "--src-tls-verify=false", url, f"oci:{work}/layout:1")
    run("umoci", "raw", "unpack", "--image", f"{work}/layout:1", work / "raw")


def podman(url: str, work: Path) -> None:
    store = ["--root", work / "store", "--runroot", work / "run"]
    run("podman", *store, "pull", "--tls-verify=false", url)
    run("podman", *store, "image", "mount", url.removeprefix("docker://"))


def caches(work: Path) -> dict[str, Path]:
    return {"XDG_CACHE_HOME": work / "cache", "XDG_DATA_HOME": work / "data"}


CONTESTANTS: dict[str, Callable[[str, Path], None]] = {
    "skopeo copy + umoci unpack": bare,
    "skopeo copy + umoci raw unpack": barest,
    "timens-rootfs pull": ours,
    "podman pull + podman image mount": podman,
}
REFERENCE = "skopeo copy + umoci unpack"
AGAIN = "timens-rootfs pull, second time"


Times = dict[str, list[tuple[float, float]]]


def race(url: str, folder: Path, rounds: int) -> Times:
    """Elapsed and processor seconds of every contestant in every round."""
    took: Times = {name: [] for name in [*CONTESTANTS, AGAIN]}
    names = list(CONTESTANTS)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            work = folder / "work"
            work.mkdir()
            took[name].append(timed(CONTESTANTS[name], url, work))
            if CONTESTANTS[name] is ours:
                took[AGAIN].append(timed(ours_again, url, work))
            if CONTESTANTS[name] is podman:
                forget(work)
            shutil.rmtree(work)
        print(f"{url}: round {number + 1} of {rounds}", file=sys.stderr)
    return took


def forget(work: Path) -> None:
    """podman leaves its image and its store mounted."""
    run("podman", "--root", work / "store", "--runroot", work / "run", "image", "umount", "--all")
    if (work / "store/overlay").is_mount():
        run("umount", work / "store/overlay")


def timed(contestant: Callable[[str, Path], None], url: str, work: Path) -> tuple[float, float]:
    """Elapsed and processor seconds of one run."""
    before, start = processor_s(), time.monotonic()
    contestant(url, work)
    return time.monotonic() - start, processor_s() - before


def processor_s() -> float:
    """Of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(title: str, took: Times) -> str:
    """Markdown."""
    lines = [
        f"| {title} | elapsed s | ratio | processor s | ratio |",
        "|---|---|---|---|---|",
    ]
    reference = took[REFERENCE]
    for name, runs in took.items():
        cells = []
        for which in (0, 1):
            ratio = statistics.median(
                a[which] / b[which] for a, b in zip(runs, reference, strict=True)
            )
            median = statistics.median(each[which] for each in runs)
            cells += [f"{median:.2f}", f"{ratio:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Make the images, race, print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    if os.geteuid() != 0:
        sys.exit("bench-rootfs: needs root: podman mounts")
    with tempfile.TemporaryDirectory(prefix="bench-rootfs-", dir="/dev/shm") as name:
        folder = Path(name)
        with registry(folder) as host:
            fill(folder, host)
            for tag, layers in ((1, "one layer"), (2, "two layers")):
                took = race(f"docker://{host}/debian:{tag}", folder, rounds)
                print(table(f"Debian, {layers}, {rounds} rounds", took), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
