# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of images as skopeo has them: TRANSPORT:DETAILS.  Source: containers-transports(5)."""

import base64
import json
from dataclasses import dataclass

from timens_rootfs.errors import RootfsError

TRANSPORTS = (
    "docker",
    "oci",
    "oci-archive",
    "docker-archive",
    "docker-daemon",
    "containers-storage",
    "dir",
)


@dataclass(frozen=True)
class Reference:
    """One image as the user named it."""

    text: str
    transport: str
    registry: str  # HOST[:PORT] of docker://, else empty

    @property
    def is_remote(self) -> bool:
        """Whether a copy in the cache may stand for it: files on this host may change."""
        return self.transport == "docker"


def parse(text: str) -> Reference:
    """Understand TRANSPORT:DETAILS.

    Raises
    ------
    RootfsError : there is no transport, or one that is unknown
    """
    transport, colon, details = text.partition(":")
    if not colon or transport not in TRANSPORTS or not details:
        hint = f"docker://HOST/NAME:TAG, or another of: {', '.join(TRANSPORTS)}"
        raise RootfsError("pull", text, "is not TRANSPORT:DETAILS", hint)
    registry = ""
    if transport == "docker":
        registry = details.removeprefix("//").partition("/")[0]
        if not details.startswith("//") or not registry:
            raise RootfsError("pull", text, "lacks a name", "docker://HOST/NAME:TAG")
    return Reference(text, transport, registry)


def auth_file_text(reference: Reference, creds: str) -> str:
    """containers-auth.json(5) for USER:PASSWORD: a file, since everybody can read an argv."""
    user, colon, password = creds.partition(":")
    if not colon or not user or not password:
        raise RootfsError("pull", "--creds", "is not USER:PASSWORD")
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return json.dumps({"auths": {reference.registry: {"auth": token}}})
