# SPDX-License-Identifier: LGPL-2.1-or-later
"""timens-run --check: what the host lets this user do, and how to get what is missing."""

import json
from dataclasses import replace

import pytest

NAMES = [
    "time namespaces",
    "user namespaces",
    "own clocks",
    "ranges of ids",
    "limits",
    "seccomp filters",
    "clock source",
    "vDSO",
    "pasta",
]


def within_limits(runner, *, time_namespaces: int, user_namespaces: int):
    """In a user namespace where no more than so many namespaces may be created."""
    script = (
        f"echo {time_namespaces} >/proc/sys/user/max_time_namespaces && "
        f'echo {user_namespaces} >/proc/sys/user/max_user_namespaces && exec "$@"'
    )
    return replace(
        runner,
        prefix=[*runner.prefix, "unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"],
    )


def findings(result):
    found = json.loads(result.stdout)
    assert [check["check"] for check in found["checks"]] == NAMES
    return found["able"], {check["check"]: check for check in found["checks"]}


def test_what_is_there_is_said_to_be_there(run_as_anyone):
    result = run_as_anyone("--check", "--json")
    able, found = findings(result)

    assert (result.returncode, result.stderr, able) == (0, "", True)
    for name in ("time namespaces", "user namespaces", "own clocks", "seccomp filters", "vDSO"):
        assert found[name]["ok"], found[name]
        assert found[name]["remedy"] == ""


def test_a_user_without_ranges_is_told_how_to_get_them(run_as_user):
    _, found = findings(run_as_user("--check", "--json"))

    assert found["ranges of ids"]["ok"] is False
    assert found["ranges of ids"]["detail"] == (
        "no ranges in /etc/subuid and /etc/subgid: one id exists inside"
    )
    assert "usermod --add-subuids" in found["ranges of ids"]["remedy"]


def test_a_user_with_ranges_has_them(run_with_ranges):
    _, found = findings(run_with_ranges("--check", "--json"))

    assert found["ranges of ids"]["ok"] is True


def test_forbidden_user_namespaces_are_named_with_the_setting(run_as_user):
    limited = within_limits(run_as_user, time_namespaces=10, user_namespaces=0)
    able, found = findings(limited("--check", "--json"))

    assert able  # root of a namespace needs no other user namespace
    assert found["user namespaces"]["ok"] is False
    assert found["user namespaces"]["detail"] == ("unshare(CLONE_NEWUSER): No space left on device")
    assert "user.max_user_namespaces" in found["user namespaces"]["remedy"]


def test_a_host_that_gives_no_clocks_fails_the_check(run_as_user):
    limited = within_limits(run_as_user, time_namespaces=0, user_namespaces=10)
    result = limited("--check")

    assert result.returncode == 1
    assert "NO   own clocks       cannot create a time namespace: No space left" in result.stdout
    assert result.stdout.splitlines()[-1] == "No command can be given clocks of its own here."


def test_missing_programs_are_named_with_their_packages(run_as_user):
    bare = replace(run_as_user, prefix=[*run_as_user.prefix, "env", "PATH=/nowhere"])
    _, found = findings(bare("--check", "--json"))

    assert found["pasta"]["remedy"] == "install the package passt, for --net pasta"
    assert found["ranges of ids"]["detail"] == "no newuidmap(1): one id exists inside"


@pytest.mark.parametrize("words", [["--json", "/", "true"], ["--json"]])
def test_json_belongs_to_check(run, words):
    result = run(*words)

    assert result.returncode == 125
    assert result.stderr == "timens-run: command line: --json without --check: Invalid argument\n"
