# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every refusal of bad input by its exact text, with nothing done and nothing left.

Refusals of the kernel are provoked where they belong, or by fault injection.
"""

import os
import re
from pathlib import Path

import pytest
from refusal_table import REFUSALS

LAUNCHER = Path(__file__).parents[2] / "launcher"
# Tested beside what they belong to: clocks, limits, seccomp profiles, image configurations.
ELSEWHERE = re.compile(
    r"(front/(seccomp|clock_options|image_config)|model/(timeline|near_wrap|limits|cgroup_place"
    r"|bpf|clock_)|clocks/|engine/(visit|journal|host_check|bundle)|steps/cgroup"
    r"|front/(doc|hook|oci_|state|self_copy)|steps/(bundle|hooks|payload|namespaces_enter))"
)
# Only a failing kernel or a lack of memory shows these: fault injection does.
INJECTED = {"ENOMEM", "EPROTO", "EFBIG", "EPIPE"}


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.words[:60] or "nothing")
def test_bad_input_is_refused_by_its_exact_reason(run, rootfs, refusal):
    if os.geteuid() != 0 and "subuid" in refusal.text:
        pytest.skip("the number of the user differs")
    (rootfs / "etc/env").write_text("=oops\n", encoding="utf-8")
    if not (rootfs / "etc/up").is_symlink():
        (rootfs / "etc/up").symlink_to("..")
    before = sorted(rootfs.iterdir())
    result = run(*refusal.words.replace("{root}", str(rootfs)).split())

    assert result.stderr == refusal.expected(rootfs)
    assert (result.returncode, result.stdout) == (125, "")
    assert [p for p in rootfs.iterdir() if p not in before and p.name != "x"] == []


def formats_of_refusals() -> dict[str, str]:
    """Every text in the sources that goes with a constant cause, and its file."""
    found = {}
    call = re.compile(r'err_set\(\s*e,\s*(E[A-Z0-9]+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
    for file in sorted(LAUNCHER.rglob("*.c")):
        name = str(file.relative_to(LAUNCHER))
        for code, literals in call.findall(file.read_text(encoding="utf-8")):
            if code not in INJECTED and not ELSEWHERE.match(name):
                found["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))] = name
    return found


def test_every_refusal_of_bad_input_in_the_sources_is_in_the_table():
    texts = [r.expected(Path("/")) for r in REFUSALS]
    others = {  # provoked by tests of their own
        "%s refused (it says why above)",
        "%s before the start",
        "this program must not be setuid or have capabilities",
        "the root filesystem is in upper or work of %.100s",
        "'%s' leads out of the root filesystem",
        "--groups needs a map that a privileged process has written",
    }
    missing: list[str] = []
    assert len(formats_of_refusals()) > 40
    for text, file in formats_of_refusals().items():
        pattern = re.escape(text).replace("%", "\x00")
        pattern = re.sub(r"\x00(\\\.\\?\*|\\\.[0-9]+)?z?[sducm]", ".*", pattern)
        if text not in others and not any(re.search(pattern, t) for t in texts):
            missing.append(f"{file}: {text}")
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("place", ["proc", "sys", "dev"])
@pytest.mark.parametrize("goal", ["/", "../../..", "tmp/.."])
def test_an_image_whose_own_places_are_its_root_is_refused_and_kept(run, make_rootfs, place, goal):
    root = make_rootfs()
    (root / place).rmdir()
    (root / place).symlink_to(goal)
    before = sorted(root.rglob("*"))
    result = run(root, "true")

    assert result.stderr == (
        f"timens-run: mounts: mount target '/{place}' is the root itself: Invalid argument\n"
        "hint: a symbolic link leads there: put a folder in its place\n"
    )
    assert result.returncode == 125
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("command", "status", "text", "hint"),
    [
        (
            ["nonsense"],
            127,
            "cannot execute 'nonsense': No such file or directory",
            "looked for in the PATH of the container",
        ),
        (["/no/such"], 127, "cannot execute '/no/such': No such file or directory", ""),
        (["/etc/passwd"], 126, "cannot execute '/etc/passwd': Permission denied", ""),
        (["/etc"], 126, "cannot execute '/etc': Permission denied", ""),
        (
            ["/tmp/script"],
            127,
            "cannot execute '/tmp/script': No such file or directory",
            "the file is there, but the interpreter or loader that it names is not: see "
            "timens-rootfs add",
        ),
    ],
)
@pytest.mark.parametrize("options", [[], ["--no-init"]])
def test_a_command_that_cannot_run_is_named(run, make_rootfs, options, command, status, text, hint):
    root = make_rootfs()
    (root / "tmp/script").write_text("#!/no/interpreter\n", encoding="utf-8")
    (root / "tmp/script").chmod(0o755)
    result = run(*options, root, *command)

    assert result.stderr == f"timens-run: exec: {text}\n" + (f"hint: {hint}\n" if hint else "")
    assert result.returncode == status


def test_a_user_who_may_not_create_a_time_namespace_is_told_how(run_as_user):
    result = run_as_user("--only", "time", "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: time namespace: cannot create a time namespace: Operation not permitted\n"
        "hint: only root may; others first need a user namespace: --only user,time\n"
    )


def test_a_root_that_cannot_be_written_says_which_folder_is_missing(run_as_user, make_rootfs):
    root = make_rootfs()
    (root / "proc").rmdir()
    root.chmod(0o755)
    result = run_as_user(root, "true")

    assert result.returncode == 125
    assert result.stderr == (
        "timens-run: mounts: cannot make /proc in the root filesystem: Permission denied\n"
    )


INJECTIONS = [
    (
        "unshare:error=EINVAL:when=2",
        "timens-run: time namespace: cannot create a time namespace: Invalid argument\n"
        "hint: this kernel has none (CONFIG_TIME_NS, Linux 5.6): leave the clocks alone with "
        "--share time\n",
    ),
    (
        "clone3:error=ENOSPC",
        "timens-run: clone: cannot create the container process: No space left on device\n"
        "hint: a limit of namespaces is reached, see sysctl user.max_*_namespaces and "
        "namespaces(7)\n",
    ),
    (
        "clone3:error=EPERM",
        "timens-run: clone: cannot create the container process: Operation not permitted\n"
        "hint: are user namespaces forbidden here? see sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns\n",
    ),
    (
        "clone3:error=EAGAIN",
        "timens-run: clone: cannot create the container process: Resource temporarily unavailable\n"
        "hint: a limit of processes is reached: ulimit -u, pids.max\n",
    ),
    (
        "socketpair:error=EMFILE",
        "timens-run: channel: cannot create the channel: Too many open files\n",
    ),
    (
        "pivot_root:error=EINVAL",
        "timens-run: pivot root: cannot make it the root: Invalid argument\n"
        "hint: the host's root is an initial ramfs, or we are in a chroot: neither can be pivoted "
        "away from\n",
    ),
    (
        "capset:error=EPERM",
        "timens-run: capabilities: cannot limit the capabilities: Operation not permitted\n",
    ),
    (
        "setns:error=EUSERS",
        "timens-run: time namespace: cannot enter the new time namespace: Too many users\n",
    ),
]


@pytest.mark.parametrize(("fault", "expected"), INJECTIONS, ids=[f for f, _ in INJECTIONS])
def test_a_refusal_of_the_kernel_is_explained(run, rootfs, tmp_path, fault, expected):
    run.prefix = ["strace", "-f", "-o", str(tmp_path / "trace"), "-e", f"inject={fault}"]
    result = run("--boottime", "1", rootfs, "true")

    assert (result.returncode, result.stderr) == (125, expected)
