# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of timens-rootfs share beside fixtures: the tool, images, registries."""

import contextlib
import hashlib
import http.server
import io
import json
import os
import socket
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).parents[2]
PROGRAM = TREE / "build/bin/timens-rootfs"
LAUNCHER = TREE / "build/bin/timens-run"

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Tool:
    """timens-rootfs as somebody starts it, with a cache and records of its own."""

    home: Path
    prefix: Sequence[str] = ()
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """The environment of the tool."""
        private = {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_DATA_HOME": str(self.home / "data"),
        }
        return {**os.environ, **private, **self.extra}

    @property
    def cache(self) -> Path:
        """Its cache folder."""
        return self.home / "cache/timens-rootfs"

    def start(self, *args: object) -> subprocess.Popen[str]:
        """Start it; stdout and stderr apart, as text."""
        return subprocess.Popen(
            [*self.prefix, PROGRAM, *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=self.env,
        )

    def __call__(self, *args: object, timeout_s: float = 90) -> Done:
        """Run it to its end."""
        with self.start(*args) as child:
            try:
                out, err = child.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                child.kill()
                raise
        return Done(child.args, child.returncode, out, err)

    def ok(self, *args: object) -> str:
        """Run it; it must succeed without a word of complaint."""
        done = self(*args)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def refusal(self, *args: object) -> str:
        """Run it; it must fail.  Returns what it says."""
        done = self(*args)
        assert done.returncode == 1
        return done.stderr


@dataclass(frozen=True)
class MadeImage:
    """An image made by umoci, and the root filesystem that it must unpack to."""

    layout: Path
    tag: str
    root: Path

    @property
    def reference(self) -> str:
        """The image as skopeo names it."""
        return f"oci:{self.layout}:{self.tag}"


def quiet(*argv: object) -> str:
    """Run another program that must succeed."""
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_in(folder: Path) -> list[str]:
    """Names of all entries, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def words_that_name(folder: Path) -> list[bytes]:
    """Command lines of processes that name something in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if os.fsencode(folder) + b"/" in words:
                found.append(words)
    return found


def wait_for_port(port: int) -> None:
    """Until somebody listens on loopback."""
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.02)


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tar_bytes(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A tar with these members exactly as given."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    """A member without content."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    info.mode = 0o755
    return info


def oci_layout(where: Path, *layers: bytes, media: str = "tar") -> Path:
    """An OCI layout with these layers, whatever they hold, tagged `x`."""
    blobs = where / "blobs/sha256"
    blobs.mkdir(parents=True)

    def put(content: bytes) -> dict[str, object]:
        name = hashlib.sha256(content).hexdigest()
        (blobs / name).write_bytes(content)
        return {"digest": f"sha256:{name}", "size": len(content)}

    diff_ids = [put(layer)["digest"] for layer in layers]
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
    }
    prefix = "application/vnd.oci.image"
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{prefix}.manifest.v1+json",
        "config": {"mediaType": f"{prefix}.config.v1+json", **put(json.dumps(config).encode())},
        "layers": [{"mediaType": f"{prefix}.layer.v1.{media}", **put(layer)} for layer in layers],
    }
    entry = {
        "mediaType": f"{prefix}.manifest.v1+json",
        "annotations": {"org.opencontainers.image.ref.name": "x"},
        **put(json.dumps(manifest).encode()),
    }
    (where / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    (where / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return where


class BadRegistry:
    """A registry that serves one layout under x:x, and spoils its blobs on the way."""

    def __init__(self, layout: Path, spoil: Callable[[bytes], bytes], *, stall: bool) -> None:
        index = json.loads((layout / "index.json").read_text())
        digest = index["manifests"][0]["digest"]
        self.asked_for_blob = threading.Event()
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path == "/v2/":
                    self._answer(b"{}", "application/json")
                elif "/manifests/" in self.path:
                    kind = "application/vnd.oci.image.manifest.v1+json"
                    self._answer(_blob(layout, digest), kind)
                else:
                    content = _blob(layout, self.path.rpartition("/")[2])
                    is_layer = len(content) > 2000
                    self._answer(spoil(content) if is_layer else content, "", len(content))

            def _answer(self, content: bytes, kind: str, length: int | None = None) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind or "application/octet-stream")
                self.send_header("Content-Length", str(length or len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2])
                if length is not None and length > 2000:
                    outer.asked_for_blob.set()
                    if stall:
                        outer.released.wait(60)
                self.wfile.write(content[len(content) // 2 :])
                self.close_connection = len(content) != (length or len(content))

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.reference = f"docker://127.0.0.1:{self.server.server_port}/x:x"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def _blob(layout: Path, digest: str) -> bytes:
    return (layout / "blobs" / digest.replace(":", "/")).read_bytes()
