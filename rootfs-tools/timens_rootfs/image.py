# SPDX-License-Identifier: LGPL-2.1-or-later
"""From an image of any transport to a root filesystem: skopeo brings it, umoci unpacks it."""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from timens_rootfs import layers, layout, progress, reference, stage, tools, userns
from timens_rootfs.cache import Cache
from timens_rootfs.errors import RootfsError
from timens_rootfs.layout import Image


@dataclass(frozen=True)
class Options:
    """How to reach an image, and how big it may be."""

    insecure: bool = False
    creds: str | None = None
    auth_file: Path | None = None
    arch: str | None = None
    max_size: int | None = None
    fresh: bool = False
    use_cache: bool = True


def pull(name: str, target: Path, options: Options, cache: Cache) -> Image:
    """Make `target` from an image, by way of the cache."""
    wanted = reference.parse(name)
    stage.target_is_free(target, step="pull")
    with cache.in_use(), contextlib.ExitStack() as held:
        key = f"{name} {options.arch or ''}".strip()
        held.enter_context(cache.one_at_a_time(key))
        image = cache.find(key) if wanted.is_remote and not options.fresh else None
        if image is not None:
            try:
                _from_cache(image, name, target, options, cache)
                return image
            except RootfsError:
                # A blob that rotted on the disk is downloaded again; all else is the user's.
                if layout.is_intact(cache.place, image):
                    raise
                for digest in image.blobs():
                    layout.blob(cache.place, digest).unlink(missing_ok=True)
        with cache.work_folder() as work:
            where = work / "layout"
            cache.lend(where)
            download(wanted, where, work, options, step="pull", thing=name)
            image = layout.read(where)
            cache.take(where, image)
        if wanted.is_remote:
            cache.remember(key, image)
        _from_cache(image, name, target, options, cache)
        return image


def pull_uncached(
    name: str, target: Path, options: Options, *, step: str = "pull", thing: object = None
) -> Image:
    """Make `target` from an image, and keep nothing else; errors call the image `thing`."""
    thing = thing or name
    wanted = reference.parse(name)
    with stage.staged_root(target, step=step) as root:
        work = root.parent
        where = work / "layout"
        (where / "blobs/sha256").mkdir(parents=True)
        download(wanted, where, work, options, step=step, thing=thing)
        image = layout.read(where)
        layers.unpack(layers.Work(where, image, root, options.max_size, step, thing))
        keep_config(where, image, root)
        return image


def download(
    wanted: reference.Reference,
    where: Path,
    work: Path,
    options: Options,
    *,
    step: str,
    thing: object,
) -> None:
    """Copy an image into the layout `where`; skopeo checks every digest on the way."""
    argv: list[str | Path] = ["skopeo"]
    if not any(path.exists() for path in _policy_files()):
        policy = work / "policy.json"
        policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        argv += ["--policy", policy]
    argv += ["--override-os", "linux"]
    argv += ["--override-arch", options.arch] if options.arch else []
    argv += ["copy", "--quiet"]
    if wanted.is_remote:
        argv += ["--src-tls-verify=false"] if options.insecure else []
        argv += _auth(wanted, work, options)
    else:
        argv.append("--dest-oci-accept-uncompressed-layers")
    argv += [wanted.text, f"oci:{where}:{layout.TAG}"]
    with progress.shown(f"copying {thing}", growing=work):
        tools.run(argv, step=step, thing=thing, env=skopeo_environment(work))


def skopeo_environment(work: Path) -> dict[str, str]:
    """Temporary files where they vanish; and inside a user namespace, whose it is."""
    env = {"TMPDIR": str(work)}
    if userns.inside():
        # As `podman unshare` sets them: containers-storage must not make another namespace.
        env |= {
            "_CONTAINERS_USERNS_CONFIGURED": "done",
            "_CONTAINERS_ROOTLESS_UID": os.environ[userns.MARK],
        }
    return env


def _auth(wanted: reference.Reference, work: Path, options: Options) -> list[str | Path]:
    if options.creds is not None:
        path = work / "auth.json"
        path.touch(mode=0o600)
        path.write_text(reference.auth_file_text(wanted, options.creds))
        return ["--src-authfile", path]
    return ["--src-authfile", options.auth_file] if options.auth_file is not None else []


def _policy_files() -> list[Path]:
    return [Path.home() / ".config/containers/policy.json", Path("/etc/containers/policy.json")]


def keep_config(where: Path, image: Image, root: Path) -> None:
    """Put the image's config beside the root."""
    text = json.dumps(layout.config(where, image), indent=2, ensure_ascii=False)
    stage.config_path(root).write_text(text + "\n")


def _from_cache(image: Image, name: str, target: Path, options: Options, cache: Cache) -> None:
    with stage.staged_root(target, step="pull") as root, cache.work_folder() as work:
        where = work / "layout"
        cache.lend(where, image)
        flat = cache.flat(image)
        big = options.max_size
        if flat is None or not layers.unpack_flat(*flat, root, big, step="pull", thing=name):
            if flat is not None:
                cache.drop_flat(image)
                stage.remove_tree(root)
                root.mkdir(mode=0o755)
            new = work / "flat.tar"
            check_sum = layers.unpack(layers.Work(where, image, root, big, "pull", name), new)
            if check_sum is not None:
                cache.take_flat(image, new, check_sum)
        keep_config(where, image, root)
