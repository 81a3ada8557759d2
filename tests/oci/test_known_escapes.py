# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways out of a container that other runtimes once had, each tried by its mechanism."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from oci_kit import PROGRAM, Bundle, Runtime

RACES = 25
FDS = range(3, 24)


@pytest.fixture
def root(bundle: Bundle, make_rootfs: Callable[[], Path]) -> Path:
    """A root filesystem of the test's own, writable."""
    path = make_rootfs()
    bundle.config["root"] = {"path": str(path), "readonly": False}
    return path


def test_no_working_directory_leads_out_by_a_leaked_descriptor(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    """CVE-2024-21626: process.cwd is /proc/self/fd/N, and N a folder of the host."""
    script = "cd ..; cd ..; cd ..; ls -d .$0 2>/dev/null"
    for fd in FDS:
        bundle.config["process"]["cwd"] = f"/proc/self/fd/{fd}"
        bundle.config["annotations"] = {"run.timens.timeline": "leak"}  # keeps a folder open
        folder = bundle.write("sh", "-c", script, str(tmp_path))
        done = runtime("--timelines", tmp_path / "t", "run", "--bundle", folder, "box")
        assert (done.returncode, done.stdout) == (1, ""), fd
        assert f"cannot enter '/proc/self/fd/{fd}'" in done.stderr


def test_nor_by_a_descriptor_that_the_engine_gives(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    """It is meant for the program, which then has it; but no program starts outside."""
    runtime.prefix = ["sh", "-c", f'exec 3<{tmp_path}; exec "$@"', "sh"]
    bundle.config["process"]["cwd"] = "/proc/self/fd/3"
    done = runtime("run", "--preserve-fds", "1", "--bundle", bundle.write("pwd"), "box")
    assert (done.returncode, done.stdout) == (1, "")
    assert "'/proc/self/fd/3' leads out of the root filesystem" in done.stderr


def test_exec_enters_no_leaked_folder_either(runtime: Runtime, running: Callable[[], str]):
    name = running()
    for fd in FDS:
        done = runtime("exec", "--cwd", f"/proc/self/fd/{fd}", name, "pwd")
        assert (done.returncode, done.stdout) == (255, ""), fd


@pytest.mark.parametrize("how", ["run", "exec"])
def test_an_image_that_runs_the_runtime_cannot_write_to_it(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str], how: str
):
    """CVE-2019-5736: the program is /proc/self/exe, and then is overwritten."""
    before = hashlib.sha256(PROGRAM.resolve().read_bytes()).hexdigest()
    again = ["/proc/self/exe", "--version"]
    if how == "run":
        done = runtime("run", "--bundle", bundle.write(*again), "box")
    else:
        name = running()
        done = runtime("exec", name, *again)
        runtime("exec", name, "sh", "-c", "echo x >/proc/1/exe; echo x >/proc/self/exe")
    assert done.stdout.startswith("timens-oci version") or "permission denied" in done.stderr
    assert hashlib.sha256(PROGRAM.resolve().read_bytes()).hexdigest() == before


@contextmanager
def swapping(place: Path, link_to: Path) -> Iterator[None]:
    """`place` is a folder and a link to the host in turns, as fast as can be."""
    folder, link, over = (place.with_name(f"{place.name}.{n}") for n in ("dir", "link", "over"))
    folder.mkdir()
    link.symlink_to(link_to)
    place.symlink_to(folder.name)

    def swap() -> None:
        while True:
            for target in (link_to, folder.name):
                if over_event.is_set():
                    return
                over.symlink_to(target)
                over.rename(place)

    over_event = threading.Event()
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over_event.set()
        thread.join()


def test_a_mount_target_that_is_swapped_for_a_link_stays_inside(
    runtime: Runtime, bundle: Bundle, root: Path, tmp_path: Path
):
    """CVE-2021-30465: another container swaps the target in a volume that both have."""
    outside = tmp_path / "outside"
    volume = tmp_path / "volume"
    for folder in (outside, volume, root / "volume"):
        folder.mkdir()
    mounts = bundle.config["mounts"]
    mounts.append({"destination": "/volume", "source": str(volume), "options": ["rbind"]})
    mounts.append(
        {"destination": "/volume/x/inner", "source": str(volume), "options": ["rbind", "ro"]}
    )
    bundle.linux["devices"] = [
        {"path": "/volume/x/null", "type": "c", "major": 1, "minor": 3, "fileMode": 0o666}
    ]
    folder = bundle.write("true")
    with swapping(volume / "x", Path("/..") / outside.relative_to("/")):
        for _ in range(RACES):
            runtime("run", "--bundle", folder, "box")
            assert list(outside.iterdir()) == []


@pytest.mark.parametrize("link", ["/proc/sysrq-trigger", "/etc/passwd"])
def test_what_masks_a_path_is_the_null_of_the_host(
    runtime: Runtime, bundle: Bundle, root: Path, link: str
):
    """CVE-2025-31133: the image's /dev/null is a link, and is bound in its place."""
    bundle.config["mounts"] = [m for m in bundle.config["mounts"] if m["destination"] == "/proc"]
    (root / "dev/null").unlink(missing_ok=True)
    (root / "dev/null").symlink_to(link)
    bundle.linux["maskedPaths"] = ["/proc/keys"]
    bundle.linux["devices"] = []
    done = runtime("run", "--bundle", bundle.write("stat", "-c", "%t:%T", "/proc/keys"), "box")
    assert done.stdout in ("1:3\n", "")  # or there is no container at all
    assert (done.stdout == "") == (done.returncode == 1)


def test_masked_paths_behind_links_of_the_image_are_masked_inside(
    runtime: Runtime, bundle: Bundle, root: Path, tmp_path: Path
):
    (tmp_path / "secret").write_text("of the host")
    (root / "link").symlink_to(tmp_path)
    bundle.linux["maskedPaths"] = ["/link/secret"]
    bundle.linux["readonlyPaths"] = ["/link"]
    assert runtime.ok("run", "--bundle", bundle.write("echo", "yes"), "box") == "yes\n"
    assert (tmp_path / "secret").read_text() == "of the host"
    (tmp_path / "still-writable").touch()


@pytest.mark.parametrize("env", [None, ["ONLY=this"]])
def test_hooks_get_no_environment_but_their_own(
    runtime: Runtime, bundle: Bundle, tmp_path: Path, env: list[str] | None
):
    """What the engine has in its own may be secret, and may steer a program of the host."""
    save = f"cat /proc/$$/environ >{tmp_path}/env"
    hook: dict[str, Any] = {"path": "/bin/sh", "args": ["sh", "-c", save]}
    if env is not None:
        hook["env"] = env
    runtime.prefix = ["env", "LD_PRELOAD=", "SECRET=engine"]
    runtime.ok("run", "--bundle", bundle.write("true", hooks={"createRuntime": [hook]}), "box")
    assert (tmp_path / "env").read_text().split("\0")[:-1] == (env or [])


def test_the_host_has_no_more_mounts_after_an_image_with_links_everywhere(
    runtime: Runtime, bundle: Bundle, root: Path
):
    for name in ("proc", "sys"):
        (root / name).rmdir()
        (root / name).symlink_to("/etc")
    before = Path("/proc/self/mountinfo").read_text().count(" /etc")
    runtime("run", "--bundle", bundle.write("true"), "box")
    assert Path("/proc/self/mountinfo").read_text().count(" /etc") == before
    assert any(Path("/sys").iterdir())
