# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mounts of a bundle: whose files they show, and what is refused by name."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oci_kit import Bundle, Runtime

FIRST_ID, COUNT = 200_000, 65_536
MAPPED = [{"containerID": 0, "hostID": FIRST_ID, "size": COUNT}]


def volume(tmp_path: Path, *options: str, **members: object) -> dict[str, Any]:
    """A bind mount of a folder with a file of user 5, group 6."""
    folder = tmp_path / "volume"
    folder.mkdir(exist_ok=True)
    (folder / "file").touch()
    os.chown(folder / "file", 5, 6)
    return {
        "destination": "/volume",
        "source": str(folder),
        "options": ["bind", *options],
        **members,
    }


def owner_inside(runtime: Runtime, bundle: Bundle, path: str = "/volume/file") -> str:
    folder = bundle.write("stat", "-c", "%u %g", path)
    return runtime.ok("run", "--bundle", folder, "box").strip()


def in_user_namespace(bundle: Bundle) -> None:
    bundle.linux["namespaces"].append({"type": "user"})
    bundle.linux.update(uidMappings=MAPPED, gidMappings=MAPPED)


@pytest.fixture
def mapped_bundle(bundle: Bundle, make_rootfs: Callable[[], Path]) -> Bundle:
    root = make_rootfs()
    (root / "volume").mkdir()
    bundle.config["root"] = {"path": str(root), "readonly": False}
    return bundle


@pytest.mark.parametrize("options", [[], ["idmap"], ["ridmap"]])
def test_a_mount_has_the_owners_that_its_mappings_say(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path, options: list[str]
):
    ids = [{"containerID": 0, "hostID": 1000, "size": 100}]
    mapped_bundle.config["mounts"].append(
        volume(tmp_path, *options, uidMappings=ids, gidMappings=ids)
    )
    assert owner_inside(runtime, mapped_bundle) == "1005 1006"
    assert (tmp_path / "volume/file").stat().st_uid == 5


def test_idmap_alone_takes_the_mappings_of_the_container(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path
):
    in_user_namespace(mapped_bundle)
    mapped_bundle.config["mounts"].append(volume(tmp_path))
    assert owner_inside(runtime, mapped_bundle) == "65534 65534"  # nobody: not mapped
    mapped_bundle.config["mounts"][-1]["options"].append("idmap")
    assert owner_inside(runtime, mapped_bundle) == "5 6"


def test_what_is_written_through_a_mapped_mount_has_the_owner_on_disk(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path
):
    in_user_namespace(mapped_bundle)
    mapped_bundle.config["mounts"].append(volume(tmp_path, "idmap"))
    runtime.ok("run", "--bundle", mapped_bundle.write("touch", "/volume/new"), "box")
    assert (tmp_path / "volume/new").stat().st_uid == 0


@pytest.mark.parametrize(("option", "owner"), [("idmap", "5 6"), ("ridmap", "1005 1006")])
def test_only_ridmap_maps_what_is_mounted_beneath(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path, option: str, owner: str
):
    mount = volume(tmp_path, option)
    mount["options"].append("rbind")
    mount["uidMappings"] = mount["gidMappings"] = [{"containerID": 0, "hostID": 1000, "size": 9}]
    mapped_bundle.config["mounts"].append(mount)
    script = f"mount -t tmpfs tmpfs {tmp_path}/volume && mkdir {tmp_path}/volume/beneath && "
    script += f"mount -t tmpfs tmpfs {tmp_path}/volume/beneath && "
    script += f"touch {tmp_path}/volume/beneath/file && chown 5:6 {tmp_path}/volume/beneath/file"
    runtime.prefix = ["unshare", "--mount", "sh", "-ec", f'{script}; exec "$@"', "sh"]
    assert owner_inside(runtime, mapped_bundle, "/volume/beneath/file") == owner


IDS = [{"containerID": 0, "hostID": 1000, "size": 1}]


@pytest.mark.parametrize(
    ("mount", "text"),
    [
        ({"options": ["bind", "idmap"]}, "idmap on /x without mappings, and the container has no"),
        (
            {"options": ["bind"], "uidMappings": IDS},
            "the mount on /x has mappings of users or groups alone",
        ),
        (
            {"type": "tmpfs", "uidMappings": IDS, "gidMappings": IDS},
            "id mappings of the tmpfs on /x: only bind mounts have them",
        ),
        ({"type": "tmpfs", "options": ["remount"]}, "option 'remount' of the mount on /x"),
    ],
)
def test_what_a_mount_cannot_be_is_refused_by_name(
    runtime: Runtime, bundle: Bundle, mount: dict[str, Any], text: str
):
    bundle.config["mounts"].append({"destination": "/x", "source": "/tmp", **mount})
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert text in done.stderr


@pytest.mark.parametrize("target", ["/", "/link", "/link/../", "/."])
def test_a_mount_on_the_root_itself_is_refused(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path, target: str
):
    (Path(mapped_bundle.config["root"]["path"]) / "link").symlink_to("/")
    mapped_bundle.config["mounts"].append({**volume(tmp_path), "destination": target})
    done = runtime("create", "--bundle", mapped_bundle.write("true"), "box")
    assert done.returncode == 1
    assert f"mounts: mount target '{target}' is the root itself" in done.stderr
    assert "hint: a symbolic link leads there" in done.stderr


@pytest.mark.parametrize("with_mount", [True, False])
def test_an_image_whose_dev_is_its_root_gets_no_devices_in_it(
    runtime: Runtime, mapped_bundle: Bundle, with_mount: bool
):
    root = Path(mapped_bundle.config["root"]["path"])
    (root / "dev").rmdir()
    (root / "dev").symlink_to("/")
    if not with_mount:
        mapped_bundle.config["mounts"] = []
    done = runtime("create", "--bundle", mapped_bundle.write("true"), "box")
    assert done.returncode == 1
    assert "mount target '/dev' is the root itself" in done.stderr
    assert not (root / "null").exists()


def test_a_bind_mount_keeps_the_options_of_its_file_system_and_says_so(
    runtime: Runtime, mapped_bundle: Bundle, tmp_path: Path
):
    """The suite of runtime-tools gives size= to bind mounts, and engines may."""
    mapped_bundle.config["mounts"].append(volume(tmp_path, "size=5k"))
    done = runtime("run", "--bundle", mapped_bundle.write("cat", "/volume/file"), "box")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "timens-oci: warning: the bind mount on /volume has options of a file system, 'size=5k':"
        " the one that is bound keeps its own\n"
    )


def test_a_read_only_dev_has_its_devices_and_mounts(runtime: Runtime, bundle: Bundle):
    """As Podman writes it for the containers that hold the namespaces of its pods."""
    for mount in bundle.config["mounts"]:
        if mount["destination"] == "/dev":
            mount["options"].append("ro")
    script = "echo gone >/dev/null && ls /dev/pts/ptmx && touch /dev/new"
    done = runtime("run", "--bundle", bundle.write("sh", "-c", script), "box")
    assert (done.returncode, done.stdout) == (1, "/dev/pts/ptmx\n")
    assert done.stderr == "touch: /dev/new: Read-only file system\n"
