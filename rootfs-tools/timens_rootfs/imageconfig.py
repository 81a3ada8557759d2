# SPDX-License-Identifier: LGPL-2.1-or-later
"""The image config that is kept beside a root as DIR.config.json.

Source: OCI image-spec, "Image Configuration", key "config".
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timens_rootfs import stage
from timens_rootfs.errors import RootfsError, os_cause


@dataclass(frozen=True)
class ImageConfig:
    """What the image says about how to run it."""

    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    working_dir: str = ""
    user: str = ""
    architecture: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        """What runs when no command is given."""
        return self.entrypoint + self.cmd


def read(root: Path) -> ImageConfig | None:
    """The config of a root; None where it came from no image."""
    path = stage.config_path(root.resolve())
    try:
        whole = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RootfsError("config", path, os_cause(error)) from error
    except ValueError as error:
        raise RootfsError("config", path, "is not JSON") from error
    if not isinstance(whole, dict):
        raise RootfsError("config", path, "is not a JSON object")
    inner = whole.get("config") or {}
    return ImageConfig(
        entrypoint=_words(inner, "Entrypoint"),
        cmd=_words(inner, "Cmd"),
        env=_words(inner, "Env"),
        working_dir=str(inner.get("WorkingDir") or ""),
        user=str(inner.get("User") or ""),
        architecture=str(whole.get("architecture") or ""),
    )


def _words(inner: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(word) for word in inner.get(key) or ())
