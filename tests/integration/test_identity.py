# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who the command is, inside and outside.  Source: user_namespaces(7)."""

import os

import pytest

from kit import RANGE_COUNT, RANGE_START, RANGE_USER_ID, USER_ID


def output(result):
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def maps(result):
    return [tuple(map(int, line.split())) for line in output(result).splitlines()]


NOT_OF_THE_TEST = ("TIMENS_TEST", "ASAN_", "LLVM_", "__LLVM_")  # runner and instrumented builds
SHOW_MAPS = ["cat", "/proc/self/uid_map", "/proc/self/gid_map"]


def test_root_keeps_all_ids(run, rootfs):
    assert maps(run(rootfs, *SHOW_MAPS)) == [(0, 0, 4294967295)] * 2


def test_a_user_without_ranges_is_alone_inside(run_as_user, rootfs):
    assert maps(run_as_user(rootfs, *SHOW_MAPS)) == [(0, USER_ID, 1)] * 2
    assert output(run_as_user(rootfs, "cat", "/proc/self/setgroups")) == "deny\n"


def test_a_user_with_ranges_has_them_inside(run_with_ranges, rootfs):
    expected = [(0, RANGE_USER_ID, 1), (1, RANGE_START, RANGE_COUNT)]

    assert maps(run_with_ranges(rootfs, *SHOW_MAPS)) == expected * 2


def test_a_user_with_ranges_can_do_without_them(run_with_ranges, rootfs):
    result = run_with_ranges("--map-users", "self", rootfs, *SHOW_MAPS)

    assert maps(result) == [(0, RANGE_USER_ID, 1)] * 2


def test_root_without_the_right_to_map_others_is_alone_inside(run, rootfs):
    """As root is in a container that has taken capabilities from it."""
    if os.geteuid() != 0:
        pytest.skip("only root has capabilities to lose")
    run.prefix = ["setpriv", "--bounding-set=-setuid", "--inh-caps=-setuid", "--"]

    assert maps(run(rootfs, *SHOW_MAPS)) == [(0, 0, 1)] * 2


@pytest.mark.parametrize("options", [[], ["--map-users", "self"]])
def test_root_of_a_user_namespace_has_the_ids_that_exist_there(run_as_user, rootfs, options):
    """As in `unshare -r`, where setgroups(2) is forbidden as well."""
    run_as_user.prefix = [*run_as_user.prefix, "unshare", "--user", "--map-root-user"]

    assert maps(run_as_user(*options, rootfs, *SHOW_MAPS)) == [(0, 0, 1)] * 2


def test_groups_that_cannot_be_set_are_refused(run_as_user, rootfs):
    result = run_as_user("--groups", "4", rootfs, "true")

    assert (result.returncode, result.stdout, result.stderr) == (
        125,
        "",
        "timens-run: command line: --groups needs a map that a privileged process has written: "
        "Operation not permitted\n"
        "hint: give this user ranges in /etc/subuid and /etc/subgid, or run as root\n",
    )


def test_given_maps_are_taken(run, rootfs):
    options = ["--map-users", "0:700000:10,20:800000:5", "--map-groups", "0:900000:10"]

    assert maps(run(*options, rootfs, *SHOW_MAPS)) == [
        (0, 700000, 10),
        (20, 800000, 5),
        (0, 900000, 10),
    ]


def test_a_user_may_map_only_what_newuidmap_gives(run_with_ranges, rootfs):
    result = run_with_ranges("--map-users", "0:0:1", rootfs, "true")

    assert result.returncode == 125
    assert "timens-run: write id maps: newuidmap refused" in result.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "uid=0(root) gid=0(root) groups=0(root)"),
        (["--user", "app"], "uid=7(app) gid=8(web) groups=8(web)"),
        (["--user", "7"], "uid=7(app) gid=8(web) groups=8(web)"),
        (["--user", "1000"], "uid=1000 gid=0(root) groups=0(root)"),
        (["--user", "app:log"], "uid=7(app) gid=9(log) groups=9(log)"),
        (["--user", "app", "--group", "0"], "uid=7(app) gid=0(root) groups=0(root)"),
        (["--user=7:8", "--groups", "log,70"], "uid=7(app) gid=8(web) groups=9(log),70"),
    ],
)
def test_user_and_groups_are_those_of_the_image(run, rootfs, options, expected):
    uid, gid, groups = (part.split("=")[1] for part in expected.split())
    script = "echo $(id -u) $(id -g) $(grep Groups /proc/self/status)"
    result = run(*options, rootfs, "sh", "-c", script)
    numbers = output(result).replace("Groups:", "").split()

    assert numbers[:2] == [uid.split("(")[0], gid.split("(")[0]]
    wanted = [g.split("(")[0] for g in groups.split(",")]
    assert numbers[2:] == (wanted if "--groups" in options else [])


def test_a_user_with_ranges_may_become_another_inside(run_with_ranges, rootfs):
    result = run_with_ranges("--user", "app", rootfs, "sh", "-c", "id -u; touch /tmp/mine")
    owner = (rootfs / "tmp/mine").stat().st_uid
    (rootfs / "tmp/mine").unlink()

    assert output(result) == "7\n"
    assert owner == RANGE_START + 6


def test_hostname_workdir(run_as_anyone, rootfs):
    options = ["--hostname", "fig", "--workdir", "/tmp"]

    assert output(run_as_anyone(*options, rootfs, "sh", "-c", "hostname; pwd")) == "fig\n/tmp\n"
    assert os.uname().nodename != "fig"


def test_environment_is_the_callers_with_changes_in_order(run, rootfs, tmp_path):
    file = tmp_path / "env"
    file.write_text("# comment\n\nFROM_FILE=a b=c\nTWICE=file\nPASSED\n")
    caller = {"PATH": "/bin", "KEPT": "1", "PASSED": "yes", "TWICE": "caller"}
    options = ["--env-file", file, "--env", "TWICE=last", "--env", "ABSENT"]
    result = run(*options, rootfs, "env", env=caller)
    found = dict(line.split("=", 1) for line in output(result).splitlines())
    found = {
        k: v
        for k, v in found.items()
        if not k.startswith(("TIMENS_TEST", "ASAN_", "LLVM_", "__LLVM_"))
    }

    assert found == {**caller, "FROM_FILE": "a b=c", "TWICE": "last"}


def test_an_environment_file_may_be_a_pipe(run, rootfs):
    result = run("--clear-env", "--env-file", "/dev/stdin", rootfs, "/bin/env", input="A=b\nLAST=c")

    assert output(result) == "A=b\nLAST=c\n"


def test_a_cleared_environment_holds_only_what_is_given(run, rootfs):
    result = run("--env", "PATH", "--env=A=b", "--clear-env", rootfs, "env", env={"PATH": "/bin"})

    assert sorted(output(result).splitlines()) == ["A=b", "PATH=/bin"]
    assert output(run("--clear-env", rootfs, "/bin/env")) == ""


def test_the_command_is_looked_up_in_the_containers_path(run, make_rootfs):
    root = make_rootfs()
    (root / "opt").mkdir()
    (root / "opt/greet").write_text("#!/bin/sh\necho hello\n")
    (root / "opt/greet").chmod(0o755)

    assert output(run("--env", "PATH=/opt", root, "greet")) == "hello\n"
