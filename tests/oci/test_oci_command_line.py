# SPDX-License-Identifier: LGPL-2.1-or-later
"""Options in the forms in which engines, runc and crun know them."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from oci_kit import PROGRAM, Bundle, Runtime

from kit import as_user


def test_short_options_mean_what_their_command_makes_of_them(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str], tmp_path: Path
):
    name = running()
    assert json.loads(runtime.ok("list", "-f", "json"))[0]["id"] == name
    assert runtime.ok("list", "-q") == f"{name}\n"
    assert len(json.loads(runtime.ok("ps", "-f", "json", name))) == 1
    assert runtime.ok("ps", name).split()[0] == "PID"
    bundle.write("hostname")
    config = json.loads((tmp_path / "config.json").read_text()) | {"hostname": "other"}
    (tmp_path / "other.json").write_text(json.dumps(config))
    assert runtime.ok("run", "-b", tmp_path, "-f", tmp_path / "other.json", "x") == "other\n"
    runtime.ok("delete", "-f", name)


@pytest.mark.parametrize(
    "words",
    [
        ["--rootless", "auto"],
        ["--rootless=false"],
        ["--debug"],
        ["--criu", "/usr/sbin/criu"],
        ["--systemd-cgroup=false"],
        ["--log-format", "json", "--log", "/dev/null"],
    ],
)
def test_what_engines_say_before_the_command_is_taken(
    runtime: Runtime, bundle: Bundle, words: list[str]
):
    assert runtime.ok(*words, "run", "--bundle", bundle.write("echo", "yes"), "box") == "yes\n"


@pytest.mark.parametrize("option", ["--no-pivot", "--no-new-keyring", "--no-subreaper"])
def test_what_engines_say_after_the_command_is_taken(runtime: Runtime, bundle: Bundle, option: str):
    assert runtime.ok("run", option, "--bundle", bundle.write("echo", "yes"), "box") == "yes\n"


def test_without_pivot_the_root_is_that_of_the_container_as_well(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    script = f"test -e {tmp_path} || echo gone; ls -id / /.. | sort -u | wc -l"
    folder = bundle.write("sh", "-c", script)
    out = runtime.ok("run", "--no-pivot", "--bundle", folder, "box")
    assert out.split() == ["gone", "2"]  # one inode, by two names


def test_the_container_cannot_use_the_keys_of_the_engine(runtime: Runtime, bundle: Bundle):
    """/proc/keys lists what one may see: a key that the engine possesses is not among it."""
    add = "import ctypes; l = ctypes.CDLL(None); l.syscall(250, 1, None); "  # join a session
    add += "l.syscall(248, b'user', b'timens-secret', b'x', 1, -3); "  # add_key
    add += "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
    bundle.linux["maskedPaths"] = []
    bundle.config["process"]["user"] = {"uid": 1000, "gid": 1000}
    runtime.prefix = ["/usr/bin/python3", "-c", add]
    folder = bundle.write("cat", "/proc/keys")
    assert "timens-secret" not in runtime.ok("run", "--bundle", folder, "box")
    kept = runtime.ok("run", "--no-new-keyring", "--bundle", folder, "box")
    assert "timens-secret" in kept


def test_exec_takes_what_runc_takes(runtime: Runtime, running: Callable[[], str]):
    name = running()
    done = runtime.ok(
        "exec", "-e", "A=1", "-e", "PATH=/bin:/none", "-u", "5:6", "-g", "7", "-g", "8",
        "--cwd", "/proc", "--no-new-privs", "--cap", "CAP_NET_RAW", "--apparmor", "unconfined",
        name, "sh", "-c",
        "echo $A $PATH; id -u; id -G; pwd; grep -E 'NoNewPrivs|CapBnd' /proc/self/status",
    )  # fmt: skip
    lines = done.splitlines()
    assert lines[:4] == ["1 /bin:/none", "5", "6 7 8", "/proc"]
    status = dict(line.split(":\t") for line in lines[4:])
    assert int(status["CapBnd"], 16) >> 13 & 1  # CAP_NET_RAW
    assert status["NoNewPrivs"] == "1"


def test_exec_gives_descriptors_on_and_writes_its_pid(
    runtime: Runtime, running: Callable[[], str], tmp_path: Path
):
    name = running()
    (tmp_path / "given").write_text("given\n")
    runtime.prefix = ["sh", "-c", f'exec 3<{tmp_path}/given; exec "$@"', "sh"]
    assert runtime.ok("exec", "--preserve-fds", "1", name, "cat", "/dev/fd/3") == "given\n"
    runtime.prefix = []
    runtime.ok("exec", "--detach", "--pid-file", tmp_path / "pid", name, "sleep", "50")
    pid = int((tmp_path / "pid").read_text())
    assert Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
    assert sorted(json.loads(runtime.ok("ps", "-f", "json", name))) == sorted(
        [pid, runtime.state(name)["pid"]]
    )


def test_run_detached_returns_at_once_and_kept_is_kept(runtime: Runtime, bundle: Bundle):
    runtime.ok("run", "--detach", "--bundle", bundle.write("sleep", "100"), "one")
    assert runtime.state("one")["status"] == "running"
    runtime.ok("delete", "--force", "one")
    runtime.ok("run", "--keep", "--bundle", bundle.write("true"), "two")
    assert runtime.state("two")["status"] == "stopped"
    runtime.ok("delete", "two")


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody else needs root")
def test_a_rootless_spec_runs_without_privileges(rootfs: Path, shared_folder: Path):
    folder = shared_folder / "rootless"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    subprocess.run([*as_user(), PROGRAM, "spec", "--rootless", "-b", folder], check=True)
    config = json.loads((folder / "config.json").read_text())
    assert {"type": "user"} in config["linux"]["namespaces"]
    config["root"]["path"] = str(rootfs)
    config["process"]["args"] = ["id", "-u"]
    (folder / "config.json").write_text(json.dumps(config))
    done = subprocess.run(
        [*as_user(), PROGRAM, "--root", folder / "state", "run", "-b", folder, "box"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["checkpoint", "box"], "hint: CRIU itself can dump"),
        (["restore", "box"], "command 'restore' is not supported"),
        (["--systemd-cgroup", "list"], "hint: let the engine manage cgroups as files"),
        (["exec", "--apparmor", "docker-default", "box"], "--apparmor docker-default is not"),
        (["exec", "--process-label", "x", "box"], "--process-label x is not supported"),
        (["exec", "--cgroup", "sub", "box"], "option '--cgroup' is not supported by exec"),
        (["update", "--l3-cache-schema", "x", "b"], "option '--l3-cache-schema' is not supported"),
        (["exec", "-g", "x", "box", "true"], "container 'box' does not exist"),
        (["create", "--bundle"], "--bundle needs a value"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(runtime: Runtime, words: list[str], text: str):
    done = runtime(*words)
    assert done.returncode != 0
    assert (done.stdout, text in done.stderr) == ("", True)
