# SPDX-License-Identifier: LGPL-2.1-or-later
"""Images by digest, so that the second pull needs no network and no unpacking.

  blobs/sha256/HEX   manifests, configs and layers, each checked by its name
  images/HEX.json    one per image: its blobs and the check sum of its unpacked form
  flat/HEX.*.tar     an image unpacked once and packed as one plain tar: quick to unpack again
  refs/HEX.json      what a name meant when it was last asked for
  locks/, tmp/       one lock per name; stages

Every file appears by rename.  Who reads or adds holds `lock` shared; who removes, exclusively.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timens_rootfs import layout, stage, userns
from timens_rootfs.errors import RootfsError, os_cause
from timens_rootfs.layout import Image


def folder() -> Path:
    """$XDG_CACHE_HOME/timens-rootfs"""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "timens-rootfs"


@dataclass(frozen=True)
class Entry:
    """One image of the cache, for people."""

    digest: str
    names: tuple[str, ...]
    bytes: int


class Cache:
    """The cache of one user, made on first use."""

    def __init__(self, place: Path) -> None:
        self.place = place
        try:
            for name in ("blobs/sha256", "images", "flat", "refs", "locks", "tmp"):
                (place / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise RootfsError("cache", place, os_cause(error)) from error

    @contextlib.contextmanager
    def in_use(self, *, alone: bool = False) -> Iterator[None]:
        """Nothing is removed from the cache inside this block, or only by its owner."""
        with _locked(self.place / "lock", fcntl.LOCK_EX if alone else fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def one_at_a_time(self, name: str) -> Iterator[None]:
        """Of parallel pulls of one name, one downloads and the others find it done."""
        with _locked(self.place / "locks" / _key(name), fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A folder on the disk of the cache that vanishes with the block."""
        with stage.work_folder(self.place / "tmp", step="cache") as path:
            yield path

    def find(self, name: str) -> Image | None:
        """The image that this name meant, if all of it is here."""
        record = _read(self.place / "refs" / f"{_key(name)}.json")
        if record is None or record.get("name") != name:
            return None
        try:
            image = layout.of_manifest(self.place, str(record["digest"]))
        except (RootfsError, KeyError):
            return None
        return image if all(self._blob(d).is_file() for d in image.blobs()) else None

    def remember(self, name: str, image: Image) -> None:
        """From now on this name means this image."""
        record = {"name": name, "digest": image.digest, "asked": int(time.time())}
        self._write(self.place / "refs" / f"{_key(name)}.json", record)

    def lend(self, where: Path, image: Image | None = None) -> None:
        """Make `where` a layout that has this image, or every blob of the cache, as hard links."""
        (where / "blobs/sha256").mkdir(parents=True)
        digests = (
            [f"sha256:{path.name}" for path in (self.place / "blobs/sha256").iterdir()]
            if image is None
            else image.blobs()
        )
        for digest in set(digests):
            layout.blob(where, digest).hardlink_to(self._blob(digest))
        if image is not None:
            layout.write_index(where, image.digest, image.manifest_size)

    def take(self, where: Path, image: Image) -> None:
        """Keep the blobs of an image that was downloaded into the layout `where`."""
        for digest in image.blobs():
            if not self._blob(digest).exists():
                layout.blob(where, digest).rename(self._blob(digest))
        record_path = self._record(image.digest)
        if _read(record_path) is None:
            self._write(record_path, {"digest": image.digest, "blobs": image.blobs(), "flat": {}})

    def flat(self, image: Image) -> tuple[Path, str] | None:
        """The image as one plain tar and its check sum, if it was unpacked before."""
        sums = (_read(self._record(image.digest)) or {}).get("flat", {})
        path = self._flat_path(image.digest)
        return (path, str(sums[_owners()])) if _owners() in sums and path.is_file() else None

    def take_flat(self, image: Image, path: Path, check_sum: str) -> None:
        """Keep the image as one plain tar."""
        record = _read(self._record(image.digest)) or {"digest": image.digest, "flat": {}}
        path.rename(self._flat_path(image.digest))
        record["flat"] = {**record["flat"], _owners(): check_sum}
        self._write(self._record(image.digest), record)

    def entries(self) -> list[Entry]:
        """Every image, for `list`."""
        names: dict[str, list[str]] = {}
        for path in (self.place / "refs").glob("*.json"):
            record = _read(path) or {}
            names.setdefault(str(record.get("digest")), []).append(str(record.get("name")))
        found = []
        for path in sorted((self.place / "images").glob("*.json")):
            image = _read(path)
            if image is not None:
                digest = str(image["digest"])
                found.append(Entry(digest, tuple(sorted(names.get(digest, []))), self._size(image)))
        return found

    def remove(self, name: str) -> Entry | None:
        """Forget an image by name or digest, with the blobs that no other image has.

        The caller is alone in the cache.
        """
        entries = self.entries()
        gone = next((e for e in entries if name in (e.digest, *e.names)), None)
        if gone is None:
            return None
        for reference in gone.names:
            (self.place / "refs" / f"{_key(reference)}.json").unlink(missing_ok=True)
        self._record(gone.digest).unlink(missing_ok=True)
        for path in (self.place / "flat").glob(f"{gone.digest.removeprefix('sha256:')}.*"):
            path.unlink()
        self._sweep()
        return gone

    def drop_flat(self, image: Image) -> None:
        """A flat tar that does not have its check sum any more is of no use."""
        self._flat_path(image.digest).unlink(missing_ok=True)

    def _sweep(self) -> None:
        kept = set()
        for path in (self.place / "images").glob("*.json"):
            kept |= set((_read(path) or {}).get("blobs", ()))
        for path in (self.place / "blobs/sha256").iterdir():
            if f"sha256:{path.name}" not in kept:
                path.unlink()

    def _size(self, record: dict[str, Any]) -> int:
        digest = str(record["digest"]).removeprefix("sha256:")
        paths = [self._blob(each) for each in record.get("blobs", ())]
        paths += (self.place / "flat").glob(f"{digest}.*")
        return sum(path.stat().st_size for path in paths if path.is_file())

    def _blob(self, digest: str) -> Path:
        return layout.blob(self.place, digest)

    def _record(self, digest: str) -> Path:
        return self.place / "images" / f"{digest.removeprefix('sha256:')}.json"

    def _flat_path(self, digest: str) -> Path:
        return self.place / "flat" / f"{digest.removeprefix('sha256:')}.{_owners()}.tar"

    def _write(self, path: Path, record: dict[str, Any]) -> None:
        with tempfile.NamedTemporaryFile("w", dir=self.place / "tmp", delete=False) as file:
            json.dump(record, file)
        Path(file.name).rename(path)


def _owners() -> str:
    """Roots unpacked without owners are another thing than those with them."""
    return "owners" if userns.owners_kept() else "single"


def _key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


@contextlib.contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, how)
        yield
