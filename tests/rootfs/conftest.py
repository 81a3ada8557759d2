# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures: the tool as its users start it, an image made by umoci, a real registry."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("rootfs_kit")

from rootfs_kit import MadeImage, Tool, free_port, quiet, wait_for_port  # noqa: E402

# bcrypt of "open sesame": what docker-registry reads from its htpasswd file.
HTPASSWD = "$2b$04$c.utZT5.5PjbSBHt6x/wkuneSSqZF97YT1PDf96QpCWlK77gIWI.e"
CONFIG = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {data}}}}}
http: {{addr: "127.0.0.1:{port}"}}
log: {{level: error}}
{auth}
"""


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """timens-rootfs, with a cache and records of this test's own."""
    (tmp_path / "home").mkdir()
    return Tool(tmp_path / "home")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An empty folder to work in: what a command leaves behind is seen here."""
    (tmp_path / "desk").mkdir()
    return tmp_path / "desk"


@pytest.fixture
def busybox_root(tool: Tool, tmp_path: Path) -> Path:
    """A fresh busybox root, alone in its folder."""
    (tmp_path / "made").mkdir()
    root = tmp_path / "made/root"
    tool.ok("create", root, "--from", "busybox")
    return root


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> MadeImage:
    """Two layers over busybox: whiteouts, hard links, attributes, a capability, owners."""
    folder = tmp_path_factory.mktemp("image")
    layout, bundle = folder / "layout", folder / "bundle"
    quiet("umoci", "init", "--layout", layout)
    quiet("umoci", "new", "--image", f"{layout}:first")
    quiet("umoci", "unpack", *_rootless(), "--image", f"{layout}:first", bundle)
    root = bundle / "rootfs"
    root.rmdir()
    Tool(folder).ok("create", root, "--from", "busybox")
    (root / "opt/gone").write_text("only in the first layer")
    (root / "opt/swept").mkdir()
    (root / "opt/swept/old").write_text("hidden by an opaque folder")
    quiet("umoci", "repack", "--image", f"{layout}:first", bundle)
    shutil.rmtree(bundle)
    quiet("umoci", "unpack", *_rootless(), "--image", f"{layout}:first", bundle)
    _second_layer(root)
    quiet("umoci", "repack", "--image", f"{layout}:second", bundle)
    config = ["--config.cmd", "cat", "--config.cmd", "/opt/marker", "--config.env", "GREETING=hi"]
    config += ["--config.workingdir", "/opt", "--config.entrypoint", "env"]
    quiet("umoci", "config", "--image", f"{layout}:second", *config)
    return MadeImage(layout, "second", root)


def _rootless() -> list[str]:
    return [] if os.geteuid() == 0 else ["--rootless"]


def _second_layer(root: Path) -> None:
    (root / "opt/gone").unlink()
    shutil.rmtree(root / "opt/swept")
    (root / "opt/swept").mkdir()
    (root / "opt/swept/new").write_text("new")
    (root / "opt/marker").write_text("from the image\n")
    (root / "opt/same").hardlink_to(root / "opt/marker")
    os.setxattr(root / "opt/marker", "user.colour", b"blue\0green")
    (root / "opt/owned").write_text("by others")
    (root / "opt/deep").mkdir(mode=0o750)
    (root / "opt/deep" / ("long" * 40)).write_text("a path beyond the old limit")
    if os.geteuid() == 0:
        os.chown(root / "opt/owned", 33, 44)
        (root / "opt/owned").chmod(0o2750)
        # struct vfs_cap_data of linux/capability.h: cap_net_raw+ep
        raw = bytes.fromhex("0100000200200000000000000000000000000000")
        os.setxattr(root / "opt/marker", "security.capability", raw)


@pytest.fixture
def start_registry(tmp_path: Path) -> Iterator[Callable[..., tuple[str, subprocess.Popen[bytes]]]]:
    """Start Debian's docker-registry on loopback; returns HOST:PORT and the process."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*, password: bool = False) -> tuple[str, subprocess.Popen[bytes]]:
        port = free_port()
        folder = tmp_path / f"registry-{port}"
        folder.mkdir()
        (folder / "htpasswd").write_text(f"ali:{HTPASSWD}\n")
        auth = f"auth: {{htpasswd: {{realm: cave, path: {folder / 'htpasswd'}}}}}"
        text = CONFIG.format(data=folder / "data", port=port, auth=auth if password else "")
        (folder / "config.yml").write_text(text)
        process = subprocess.Popen(
            ["docker-registry", "serve", folder / "config.yml"], stderr=subprocess.DEVNULL
        )
        started.append(process)
        wait_for_port(port)
        return f"127.0.0.1:{port}", process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def registry(start_registry: Callable[..., tuple[str, object]], image: MadeImage) -> str:
    """A registry that holds the image as box:1."""
    host, _ = start_registry()
    quiet(
        "skopeo", "copy", "-q", "--dest-tls-verify=false", image.reference, f"docker://{host}/box:1"
    )
    return host
