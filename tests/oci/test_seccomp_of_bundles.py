# SPDX-License-Identifier: LGPL-2.1-or-later
"""linux.seccomp: what each action does to a call, and calls that are left to an agent."""

import errno
import json
import platform
from pathlib import Path
from typing import Any

import pytest
from oci_kit import Bundle, Runtime
from seccomp_agent import Agent

SIGSYS = 31
CALLS = {"x86_64": {"mkdir": 83}, "aarch64": {"mkdir": 34}}[platform.machine()]
MKDIR = ["mkdir", "mkdirat"]


def profile(action: str, *names: str, default: str = "SCMP_ACT_ALLOW", **more: Any) -> Any:
    entry = {"names": list(names), "action": action, **more.pop("entry", {})}
    return {"defaultAction": default, "syscalls": [entry] if names else [], **more}


def try_mkdir(runtime: Runtime, bundle: Bundle, seccomp: Any) -> tuple[str, str]:
    bundle.linux["seccomp"] = seccomp
    script = "mkdir /dev/shm/new; echo $?; test -d /dev/shm/new && echo made"
    done = runtime("run", "--bundle", bundle.write("sh", "-c", script), "box")
    return done.stdout, done.stderr


@pytest.mark.parametrize("no_new_privileges", [True, False])
@pytest.mark.parametrize(
    ("action", "entry", "said", "why"),
    [
        ("SCMP_ACT_ALLOW", {}, "0\nmade\n", ""),
        ("SCMP_ACT_LOG", {}, "0\nmade\n", ""),
        ("SCMP_ACT_ERRNO", {}, "1\n", "Operation not permitted"),
        ("SCMP_ACT_ERRNO", {"errnoRet": errno.ENOMEDIUM}, "1\n", "No medium found"),
        ("SCMP_ACT_TRACE", {}, "1\n", "Function not implemented"),  # nobody traces
        ("SCMP_ACT_TRAP", {}, f"{128 + SIGSYS}\n", ""),
        ("SCMP_ACT_KILL", {}, f"{128 + SIGSYS}\n", ""),
        ("SCMP_ACT_KILL_THREAD", {}, f"{128 + SIGSYS}\n", ""),
        ("SCMP_ACT_KILL_PROCESS", {}, f"{128 + SIGSYS}\n", ""),
    ],
)
def test_each_action_does_to_a_call_what_its_name_says(
    runtime: Runtime,
    bundle: Bundle,
    action: str,
    entry: dict[str, int],
    said: str,
    why: str,
    no_new_privileges: bool,
):
    bundle.config["process"]["noNewPrivileges"] = no_new_privileges
    default = "SCMP_ACT_ALLOW" if action != "SCMP_ACT_ALLOW" else "SCMP_ACT_LOG"
    seccomp = profile(action, *MKDIR, default=default, entry=entry)
    out, text = try_mkdir(runtime, bundle, seccomp)
    assert out == said
    assert why in text


@pytest.mark.parametrize(
    ("value", "op", "said"),
    [
        (0o777, "SCMP_CMP_EQ", "1\n"),
        (0o777, "SCMP_CMP_NE", "0\nmade\n"),
        (0o776, "SCMP_CMP_GT", "1\n"),
        (0o776, "SCMP_CMP_LE", "0\nmade\n"),
    ],
)
def test_an_action_can_depend_on_an_argument(
    runtime: Runtime, bundle: Bundle, value: int, op: str, said: str
):
    entry = {"args": [{"index": 1, "value": value, "op": op}]}
    assert try_mkdir(runtime, bundle, profile("SCMP_ACT_ERRNO", "mkdir", entry=entry))[0] == said


@pytest.mark.parametrize(
    "flags",
    [
        ["SECCOMP_FILTER_FLAG_LOG"],
        ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"],
        ["SECCOMP_FILTER_FLAG_TSYNC"],
        ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"],
    ],
)
def test_every_flag_of_the_specification_is_taken(
    runtime: Runtime, bundle: Bundle, flags: list[str]
):
    seccomp = profile("SCMP_ACT_ERRNO", *MKDIR, flags=flags)
    assert try_mkdir(runtime, bundle, seccomp)[0] == "1\n"


def test_calls_of_an_architecture_that_is_not_listed_are_not_there(
    runtime: Runtime, bundle: Bundle
):
    """And a listed one is covered: the filter that the kernel shows is for both."""
    seccomp = profile("SCMP_ACT_ERRNO", *MKDIR, architectures=["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"])
    assert try_mkdir(runtime, bundle, seccomp)[0] == "1\n"
    seccomp["architectures"] = ["SCMP_ARCH_PDP11"]
    assert "unknown architecture 'SCMP_ARCH_PDP11'" in try_mkdir(runtime, bundle, seccomp)[1]


@pytest.mark.parametrize("no_new_privileges", [True, False])
@pytest.mark.parametrize("flags", [[], ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]])
def test_an_agent_answers_the_calls_that_are_left_to_it(
    runtime: Runtime,
    bundle: Bundle,
    tmp_path: Path,
    no_new_privileges: bool,
    flags: list[str],
):
    bundle.config["process"]["noNewPrivileges"] = no_new_privileges
    bundle.config["annotations"] = {"who": "test"}
    seccomp = profile("SCMP_ACT_NOTIFY", *MKDIR, flags=flags)
    seccomp.update(listenerPath=str(tmp_path / "agent"), listenerMetadata="for the agent")
    with Agent(tmp_path / "agent", lambda _: errno.ENOMEDIUM) as agent:
        said, why = try_mkdir(runtime, bundle, seccomp)
    assert (said, agent.calls) == ("1\n", [CALLS["mkdir"]])
    assert "No medium found" in why
    (state,) = agent.states
    assert (state["fds"], state["metadata"]) == (["seccompFd"], "for the agent")
    assert state["ociVersion"] == "1.2.0"
    assert (state["state"]["id"], state["state"]["status"]) == ("box", "creating")
    assert state["state"]["annotations"] == {"who": "test"}
    assert state["state"]["bundle"] == str(tmp_path)
    assert state["state"]["pid"] == state["pid"] > 1


@pytest.mark.parametrize("no_new_privileges", [True, False])
def test_even_every_call_can_be_left_to_an_agent(
    runtime: Runtime, bundle: Bundle, tmp_path: Path, no_new_privileges: bool
):
    """Also those by which the runtime itself reaches it."""
    bundle.config["process"]["noNewPrivileges"] = no_new_privileges
    seccomp = profile("", default="SCMP_ACT_NOTIFY", listenerPath=str(tmp_path / "agent"))
    with Agent(tmp_path / "agent", lambda _: 0) as agent:
        assert try_mkdir(runtime, bundle, seccomp) == ("0\nmade\n", "")
    assert CALLS["mkdir"] in agent.calls


def test_the_program_has_no_child_and_no_descriptor_of_ours(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    bundle.linux["seccomp"] = profile(
        "SCMP_ACT_NOTIFY", *MKDIR, listenerPath=str(tmp_path / "agent")
    )
    script = "sleep 0.1; cat /proc/1/task/1/children; ls /proc/1/fd; true"
    with Agent(tmp_path / "agent", lambda _: 0):
        folder = bundle.write("sh", "-c", script)
        children, *fds = runtime.ok("run", "--bundle", folder, "box").split()
    assert (children, fds) == ("4", ["0", "1", "2"])  # 2 called the agent, 3 slept, 4 is cat


def test_an_exec_is_introduced_to_the_agent_by_itself(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    bundle.linux["seccomp"] = profile(
        "SCMP_ACT_NOTIFY", *MKDIR, listenerPath=str(tmp_path / "agent")
    )
    with Agent(tmp_path / "agent", lambda _: errno.ENOMEDIUM) as agent:
        runtime.ok("create", "--bundle", bundle.write("sleep", "100"), "box")
        runtime.ok("start", "box")
        pid = runtime.state("box")["pid"]
        done = runtime("exec", "box", "mkdir", "/dev/shm/x")
        runtime.ok("delete", "--force", "box")
    assert "No medium found" in done.stderr
    first, second = agent.states
    assert first["pid"] == pid
    assert (second["state"]["pid"], second["state"]["status"]) == (pid, "running")
    assert second["pid"] != pid


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "syscalls[0]: SCMP_ACT_NOTIFY needs an agent"),
        ({"listenerMetadata": "x"}, "'linux.seccomp.listenerMetadata' without listenerPath"),
        ({"listenerPath": "x"}, "'linux.seccomp.listenerPath' is not absolute"),
        ({"listenerPath": "/nobody"}, "cannot connect to the seccomp agent /nobody"),
    ],
)
def test_calls_cannot_be_left_to_nobody(
    runtime: Runtime, bundle: Bundle, more: dict[str, str], text: str
):
    why = try_mkdir(runtime, bundle, profile("SCMP_ACT_NOTIFY", *MKDIR, **more))[1]
    assert text in why


def test_an_agent_that_no_call_is_left_to_is_not_called(
    runtime: Runtime, bundle: Bundle, tmp_path: Path
):
    seccomp = profile("SCMP_ACT_ERRNO", *MKDIR, listenerPath=str(tmp_path / "agent"))
    with Agent(tmp_path / "agent", lambda _: 0) as agent:
        assert try_mkdir(runtime, bundle, seccomp)[0] == "1\n"
    assert agent.states == []


def test_features_tell_what_a_filter_can_have(runtime: Runtime):
    seccomp = json.loads(runtime.ok("features"))["linux"]["seccomp"]
    assert "SCMP_ACT_NOTIFY" in seccomp["actions"]
    assert "SCMP_ARCH_X86_64" in seccomp["archs"]
    assert seccomp["supportedFlags"] == seccomp["knownFlags"]
    assert "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV" in seccomp["knownFlags"]
