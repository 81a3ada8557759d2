# SPDX-License-Identifier: LGPL-2.1-or-later
"""Without a command the image says what runs.  Source: OCI image specification, config.md."""

import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def image(make_rootfs):
    """A root filesystem, and a function that keeps a configuration beside it."""
    root = make_rootfs()
    file = Path(f"{root}.config.json")

    def keep(config):
        file.write_text(config if isinstance(config, str) else json.dumps({"config": config}))
        return root

    yield keep
    file.unlink(missing_ok=True)


SHOW = ["sh", "-c", 'echo "$@" $A $(pwd) $(id -u):$(id -g)', "sh"]


def test_entrypoint_and_command_run_as_the_image_wants(run, image):
    root = image(
        {
            "Entrypoint": SHOW,
            "Cmd": ["x", "y z"],
            "Env": ["PATH=/bin", "A=b=c"],
            "WorkingDir": "/tmp",
            "User": "app:9",
        }
    )
    result = run(root)

    assert (result.stdout, result.stderr) == ("x y z b=c /tmp 7:9\n", "")


def test_options_of_the_command_line_have_the_last_word(run, image):
    config = {"Entrypoint": None, "Cmd": SHOW, "Env": ["A=image"], "User": "7"}
    root = image(config)
    result = run("--env", "A=option", "--user", "1:2", "--workdir", "/etc", root)

    assert (result.stdout, result.stderr) == ("option /etc 1:2\n", "")


def test_a_command_of_the_command_line_ignores_the_configuration(run, image):
    assert run(image("{ nonsense"), "echo", "mine").stdout == "mine\n"


@pytest.mark.parametrize(
    ("config", "cause"),
    [
        ({"Env": []}, " names no command"),
        ({"Cmd": "sh"}, ": Cmd is not a list of texts"),
        ({"Cmd": ["sh", 1]}, ": Cmd is not a list of texts"),
        ({"Cmd": ["sh"], "User": 7}, ": User is not a text"),
        ('{"config": 1}', ": config is not an object"),
        ("[]", ": config is not an object"),
        ('{"a": 1, "a": 2}', ": line 1: duplicate object key near '\"a\"'"),
    ],
)
def test_a_configuration_that_is_none_is_refused(run, image, config, cause):
    root = image(config)
    result = run(root)

    assert result.returncode == 125
    assert result.stderr == (
        f"timens-run: command line: {root}.config.json{cause}: Invalid argument\n"
    )


def test_without_command_and_configuration_the_file_is_named(run, rootfs):
    result = run(rootfs)

    assert result.stderr == (
        "timens-run: command line: no COMMAND: Invalid argument\n"
        f"hint: give one, or keep the image's configuration as {rootfs}.config.json\n"
    )


def test_a_pipe_in_place_of_the_configuration_is_refused_at_once(run, image):
    root = image({})
    file = Path(f"{root}.config.json")
    file.unlink()
    os.mkfifo(file)
    result = run(root, timeout_s=5)

    assert (result.returncode, result.stderr) == (
        125,
        f"timens-run: command line: {file} is not a regular file: Invalid argument\n",
    )
