# SPDX-License-Identifier: LGPL-2.1-or-later
"""create, start, state, kill, delete, exec and the rest, as engines call them."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from oci_kit import Bundle, Runtime


def test_states_follow_the_life_of_a_container(runtime: Runtime, bundle: Bundle, tmp_path: Path):
    pid_file = tmp_path / "pid"
    runtime.ok("create", "box", "--bundle", bundle.write("sleep", "100"), "--pid-file", pid_file)
    created = runtime.state("box")
    assert (created["status"], created["bundle"]) == ("created", str(tmp_path))
    assert int(pid_file.read_text()) == created["pid"]

    runtime.ok("start", "box")
    assert runtime.state("box")["status"] == "running"
    runtime.ok("pause", "box")
    assert runtime.state("box")["status"] == "paused"
    runtime.ok("resume", "box")
    assert json.loads(runtime.ok("list", "--format", "json"))[0]["status"] == "running"

    runtime.ok("kill", "box", "KILL")
    while (state := runtime.state("box"))["status"] == "running":
        pass
    assert (state["status"], "pid" in state) == ("stopped", False)
    runtime.ok("delete", "box")
    assert runtime.ids() == []


def test_run_ends_with_the_status_of_the_program(runtime: Runtime, bundle: Bundle):
    done = runtime("run", "--bundle", bundle.write("sh", "-c", "echo said; exit 7"), "box")
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "")


@pytest.mark.parametrize("command", ["state", "kill", "delete", "start", "exec", "ps", "pause"])
def test_an_unknown_container_is_an_error_on_stderr(runtime: Runtime, command: str):
    done = runtime(command, "nobody")
    assert done.returncode not in (0, 126, 127)
    assert done.stdout == ""
    assert "container 'nobody' does not exist" in done.stderr
    assert "no such file" not in done.stderr.lower()  # engines take that for the program


def test_deleting_an_unknown_container_by_force_is_no_error(runtime: Runtime):
    assert runtime("delete", "--force", "nobody").returncode == 0


def test_only_a_stopped_container_can_be_deleted(runtime: Runtime, running: Callable[[], str]):
    done = runtime("delete", running())
    assert done.returncode == 1
    assert "container 'box' is running, only a stopped one can be deleted" in done.stderr


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("nope", 'exec: "nope": executable file not found in $PATH'),
        ("/bin/nope", 'exec: "/bin/nope": stat /bin/nope: no such file or directory'),
        ("/etc", 'exec: "/etc": permission denied'),
    ],
)
def test_a_missing_program_is_told_at_create_in_the_words_of_engines(
    runtime: Runtime, bundle: Bundle, tmp_path: Path, program: str, text: str
):
    log = tmp_path / "log"
    folder = bundle.write(program)
    done = runtime("--log", log, "--log-format", "json", "create", "--bundle", folder, "box")
    assert done.returncode == 1
    assert text in done.stderr
    assert text in json.loads(log.read_text())["msg"]


def test_exec_runs_inside_with_the_status_of_its_program(
    runtime: Runtime, running: Callable[[], str], tmp_path: Path
):
    name = running()
    done = runtime("exec", "--env", "A=b", name, "sh", "-c", "echo $A; exit 3")
    assert (done.returncode, done.stdout) == (3, "b\n")
    process = {"args": ["hostname"], "cwd": "/", "user": {"uid": 0, "gid": 0}, "env": []}
    process["env"] = ["PATH=/bin"]
    (tmp_path / "process.json").write_text(json.dumps(process))
    assert runtime.ok("exec", "--process", tmp_path / "process.json", name) == "timens\n"
    assert len(json.loads(runtime.ok("ps", "--format", "json", name))) == 1


def test_hooks_run_in_order_and_a_failing_one_undoes_the_container(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    def hook(stage: str) -> list[dict[str, object]]:
        script = f"echo {stage} >>{tmp_path}/order; cat >{tmp_path}/{stage}"
        return [{"path": "/bin/sh", "args": ["sh", "-c", script], "env": ["PATH=/bin:/usr/bin"]}]

    stages = ["prestart", "createRuntime", "createContainer", "poststart", "poststop"]
    folder = bundle.write("true", hooks={stage: hook(stage) for stage in stages})
    runtime.ok("run", "--bundle", folder, "box")
    assert (tmp_path / "order").read_text().split() == stages
    assert json.loads((tmp_path / "createRuntime").read_text())["id"] == "box"

    bundle.config["hooks"]["createRuntime"][0]["args"] = ["sh", "-c", "exit 4"]
    done = runtime("create", "--bundle", bundle.write(), "box")
    assert done.returncode == 1
    assert "the hook /bin/sh ended with status 4" in done.stderr


def test_limits_are_written_and_updated(runtime: Runtime, bundle: Bundle):
    bundle.linux["resources"] = {"memory": {"limit": 64 << 20}, "pids": {"limit": 20}}
    runtime.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
    try:
        stats = json.loads(runtime.ok("events", "--stats", "box"))["data"]
        assert (stats["memory"]["usage"]["limit"], stats["pids"]["limit"]) == (64 << 20, 20)
        runtime.ok("update", "--pids-limit", "30", "box")
        stats = json.loads(runtime.ok("events", "--stats", "box"))["data"]
        assert stats["pids"]["limit"] == 30
    finally:
        runtime.ok("delete", "--force", "box")


def test_events_follow_a_container_to_its_end(runtime: Runtime, bundle: Bundle):
    """Statistics again and again, and a word when memory runs out."""
    bundle.linux["resources"] = {"memory": {"limit": 16 << 20, "swap": 16 << 20}}
    eat = "sleep 0.3; x=$(head -c 40000000 /dev/zero | tr '\\0' x); sleep 0.4"
    runtime.ok("create", "--bundle", bundle.write("sh", "-c", f"({eat}); sleep 0.3"), "box")
    runtime.ok("start", "box")
    lines = runtime.ok("events", "--interval", "100ms", "box").splitlines()
    runtime.ok("delete", "box")
    types = [json.loads(line)["type"] for line in lines]
    assert types.count("stats") >= 3
    assert types.count("oom") >= 1
    assert json.loads(lines[0])["data"]["memory"]["usage"]["limit"] == 16 << 20


def test_an_interval_of_no_time_is_refused(runtime: Runtime):
    assert "--interval 0 is no time to wait" in runtime("events", "--interval", "0", "box").stderr


def test_the_terminal_goes_over_the_console_socket(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    received: list[bytes] = []

    def engine(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        _, fds, _, _ = socket.recv_fds(connection, 100, 1)
        with os.fdopen(fds[0], "rb", buffering=0) as terminal:
            received.append(terminal.read(100))

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "console"))
        listener.listen()
        thread = threading.Thread(target=engine, args=(listener,), daemon=True)
        thread.start()
        bundle.config["process"]["terminal"] = True
        folder = bundle.write("tty")
        runtime.ok("create", "--bundle", folder, "--console-socket", tmp_path / "console", "box")
        runtime.ok("start", "box")
        thread.join(10)
    runtime.ok("delete", "--force", "box")
    assert received == [b"/dev/pts/0\r\n"]


def test_of_many_creators_of_one_id_one_wins(runtime: Runtime, bundle: Bundle):
    folder = bundle.write("sleep", "100")
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(runtime("create", "--bundle", folder, "box"))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.returncode for r in results) == [0] + [1] * 7
    assert all("already exists" in r.stderr for r in results if r.returncode)
    assert runtime.state("box")["status"] == "created"
    runtime.ok("delete", "--force", "box")


@pytest.mark.parametrize(
    ("part", "member", "value", "text"),
    [
        ("linux", "intelRdt", {}, "'linux.intelRdt' is not supported"),
        ("linux", "cgroupsPath", "a.slice:b:c", "is one of systemd, which is not supported"),
        ("linux", "sysctl", {"kernel.panic": "1"}, "sysctl 'kernel.panic' is not of a namespace"),
        ("process", "apparmorProfile", "x", "'process.apparmorProfile' is not supported"),
        ("process", "args", [], "'process.args' is missing or empty"),
        ("process", "cwd", "x", "'process.cwd' is missing or not absolute"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    runtime: Runtime, bundle: Bundle, part: str, member: str, value: object, text: str
):
    bundle.config[part][member] = value
    done = runtime("create", "--bundle", bundle.write(), "box")
    assert done.returncode == 1
    assert text in done.stderr


def test_a_mount_label_means_nothing_without_selinux_and_the_runtime_says_so(
    runtime: Runtime, bundle: Bundle
):
    bundle.config["linux"]["mountLabel"] = "system_u:object_r:container_file_t:s0"
    done = runtime("run", "--bundle", bundle.write("true"), "box")
    told = "'linux.mountLabel' means nothing here: this kernel has no SELinux"
    if Path("/sys/fs/selinux").exists():
        told = "'linux.mountLabel' is not supported"
    assert told in done.stderr
    assert done.returncode == Path("/sys/fs/selinux").exists()


def test_an_unknown_command_and_option_are_refused_by_name(runtime: Runtime):
    assert "command 'checkpoint' is not supported" in runtime("checkpoint", "box").stderr
    assert "option '--sharp' is not supported" in runtime("--sharp").stderr


def test_every_process_is_in_the_containers_cgroup_of_every_tree(
    runtime: Runtime, running: Callable[[], str]
):
    name = running()
    pid = runtime.state(name)["pid"]
    inside = runtime.ok("exec", name, "cat", "/proc/self/cgroup").splitlines()
    ours = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    assert ours == [line for line in ours if f":/timens-oci/{name}-" in line.replace("//", "/")]
    assert {line.rsplit(":", 1)[1] for line in inside} == {"/"}  # the root of its namespace
