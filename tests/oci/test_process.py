# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the program of a bundle runs: scheduling, processors, personality, names."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oci_kit import Bundle, Runtime

POLICIES = {"SCHED_OTHER": 0, "SCHED_FIFO": 1, "SCHED_RR": 2, "SCHED_BATCH": 3, "SCHED_IDLE": 5}
STAT_NICE, STAT_PRIORITY, STAT_POLICY = 18, 39, 40  # fields of /proc/PID/stat, from 0


def output(runtime: Runtime, bundle: Bundle, *args: str) -> str:
    return runtime.ok("run", "--bundle", bundle.write(*args), "box")


@pytest.mark.parametrize(
    ("scheduler", "nice", "priority"),
    [
        ({"policy": "SCHED_OTHER", "nice": 7}, "7", "0"),
        ({"policy": "SCHED_BATCH", "nice": -3}, "-3", "0"),
        ({"policy": "SCHED_IDLE"}, "0", "0"),
        ({"policy": "SCHED_RR", "priority": 4}, "0", "4"),
        ({"policy": "SCHED_FIFO", "priority": 2, "flags": ["SCHED_FLAG_RESET_ON_FORK"]}, "0", "2"),
    ],
)
def test_the_program_has_the_scheduler_of_the_configuration(
    runtime: Runtime, bundle: Bundle, scheduler: dict[str, Any], nice: str, priority: str
):
    bundle.config["process"]["scheduler"] = scheduler
    folder = bundle.write("cat", "/proc/self/stat")
    # In a new cgroup of v1 nobody may be in real time.
    told = runtime.ok("--cgroup-manager", "disabled", "run", "--bundle", folder, "box")
    fields = told.split()
    assert fields[STAT_POLICY] == str(POLICIES[scheduler["policy"]])
    assert (fields[STAT_NICE], fields[STAT_PRIORITY]) == (nice, priority)


def test_exec_runs_on_the_processors_that_are_meant_for_it(
    runtime: Runtime, bundle: Bundle, running: Callable[[], str], tmp_path: Path
):
    """The program of the container itself is not meant by the specification."""
    last = str(max(os.sched_getaffinity(0)))
    bundle.config["process"]["execCPUAffinity"] = {"initial": "0", "final": last}
    show = ["grep", "Cpus_allowed_list", "/proc/self/status"]
    name = running()
    assert runtime.ok("exec", name, *show).split()[1] == last
    process = {"args": show, "cwd": "/", "env": ["PATH=/bin"], "execCPUAffinity": {"final": "0"}}
    (tmp_path / "process.json").write_text(json.dumps(process))
    assert runtime.ok("exec", "--process", tmp_path / "process.json", name).split()[1] == "0"


@pytest.mark.parametrize(("domain", "machine"), [("LINUX32", "i686"), ("LINUX", "x86_64")])
def test_the_personality_is_that_of_the_configuration(
    runtime: Runtime, bundle: Bundle, domain: str, machine: str
):
    bundle.linux["personality"] = {"domain": domain}
    assert output(runtime, bundle, "uname", "-m") == f"{machine}\n"


def test_the_container_has_the_names_of_the_configuration(runtime: Runtime, bundle: Bundle):
    bundle.config.update(hostname="inside", domainname="example.test")
    files = ["/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname"]
    assert output(runtime, bundle, "cat", *files).split() == ["inside", "example.test"]


def test_umask_and_sysctl_and_io_priority(runtime: Runtime, bundle: Bundle):
    bundle.config["process"]["user"]["umask"] = 0o027
    bundle.config["process"]["ioPriority"] = {"class": "IOPRIO_CLASS_IDLE", "priority": 0}
    bundle.linux["sysctl"] = {"net.ipv4.ip_forward": "1", "kernel.msgmax": "4096"}
    script = "umask; ionice; cat /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/msgmax"
    assert output(runtime, bundle, "sh", "-c", script).split() == [
        "0027", "idle", "1", "4096"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "wanted"),
    [("rshared", "shared:"), ("rslave", "master:"), ("rprivate", ""), ("unbindable", "unbindable")],
)
def test_the_root_has_the_propagation_of_the_configuration(
    runtime: Runtime, bundle: Bundle, word: str, wanted: str
):
    bundle.linux["rootfsPropagation"] = word
    runtime.prefix = ["unshare", "--mount", "--propagation", "shared"]
    of_root = "^[^ ]+ [^ ]+ [^ ]+ [^ ]+ / "
    fields = output(runtime, bundle, "grep", "-E", of_root, "/proc/self/mountinfo").split()
    tags = fields[6 : fields.index("-")]
    assert [t for t in tags if t.startswith(wanted)] if wanted else tags == []


@pytest.mark.parametrize(
    ("part", "member", "value", "text"),
    [
        ("process", "scheduler", {}, "'scheduler.policy' is not known"),
        ("process", "scheduler", {"policy": "SCHED_ISO"}, "cannot set the scheduler's policy 4"),
        (
            "process",
            "scheduler",
            {"policy": "SCHED_OTHER", "flags": ["X"]},
            "'scheduler.flags': 'X' is not known",
        ),
        (
            "process",
            "execCPUAffinity",
            {"final": "3-1"},
            "'execCPUAffinity.final': '3-1' is no list of CPUs",
        ),
        ("process", "selinuxLabel", "x", "'process.selinuxLabel' is not supported"),
        ("linux", "personality", {"domain": "BSD"}, "'linux.personality.domain' is not LINUX"),
        (
            "linux",
            "personality",
            {"domain": "LINUX", "flags": ["X"]},
            "'linux.personality.flags': none is known",
        ),
        ("linux", "netDevices", {"eth0": {}}, "'linux.netDevices' is not supported"),
        ("linux", "memoryPolicy", {"mode": "MPOL_BIND"}, "'linux.memoryPolicy' is not supported"),
    ],
)
def test_what_is_wrong_or_not_supported_is_refused_by_name(
    runtime: Runtime, bundle: Bundle, part: str, member: str, value: object, text: str
):
    bundle.config[part][member] = value
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert text in done.stderr


V2_ALONE = """
    awk '$0 ~ / - cgroup / { print $5 }' /proc/self/mountinfo | sort -r | xargs -n 1 umount
    exec "$@"
"""


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        (
            {"memory": {"swappiness": 10}},
            "no cgroup tree has the controller memory, needed for memory.swappiness",
        ),
        ({"memory": {"disableOOMKiller": True}}, "needed for memory.oom_control"),
        ({"cpu": {"realtimeRuntime": 10}}, "needed for cpu.rt_runtime_us"),
        ({"rdma": {"mlx5": {"hcaHandles": 1}}}, "cannot limit by rdma.max: "),
        ({"unified": {"memory.high": "1"}}, "cannot limit by memory.high: "),
    ],
)
def test_a_limit_that_only_the_other_cgroup_version_has_is_never_dropped(
    runtime: Runtime, bundle: Bundle, resources: dict[str, Any], text: str
):
    bundle.linux["resources"] = resources
    if "unified" not in resources:
        runtime.prefix = ["unshare", "--mount", "sh", "-ec", V2_ALONE, "sh"]
    done = runtime("create", "--bundle", bundle.write("true"), "box")
    assert done.returncode == 1
    assert text in done.stderr


def test_swappiness_is_written_where_v1_has_it(runtime: Runtime, bundle: Bundle):
    bundle.linux["cgroupsPath"] = f"/timens-oci-swappiness-{os.getpid()}"
    bundle.linux["resources"] = {"memory": {"swappiness": 13, "limit": 64 << 20}}
    runtime.ok("create", "--bundle", bundle.write("true"), "box")
    group = Path("/sys/fs/cgroup/memory") / bundle.linux["cgroupsPath"][1:]
    written = (group / "memory.swappiness").read_text()
    runtime.ok("delete", "--force", "box")
    assert (written, group.exists()) == ("13\n", False)
