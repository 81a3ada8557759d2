# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `timens-study run` refuses before it makes anything."""

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--metrics", "nope"),
            "--metrics: nope: no such metric here\nhint: see: timens-bench list",
        ),
        (("--metrics", ""), "--metrics: '': no such metric here\nhint: see: timens-bench list"),
        (("--cpu", "999999"), "scheduling: CPU 999999: not one that we may use\nhint: choose from"),
        (("--cpu", "-1"), "scheduling: CPU -1: not one that we may use\nhint: choose from"),
    ],
)
def test_a_wrong_metric_or_cpu_is_refused_before_anything_is_made(study, tmp_path, words, said):
    root, output = tmp_path / "root", tmp_path / "above" / "run"
    done = study(
        *("run", "--profile", "smoke", *words),
        *("--rootfs", root, "--rootfs-from", "busybox", "--output", output),
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"timens-study: {said}")
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_was_named_and_is_not_there_is_an_error(study, tmp_path):
    root = tmp_path / "root"
    words = ("run", "--profile", "smoke", "--rootfs", root, "--output", tmp_path / "run")

    done = study(*words)
    assert (done.returncode, done.stderr) == (
        1,
        f"timens-study: rootfs: {root}: no such folder\n"
        f"hint: leave out --rootfs, or make it: timens-rootfs create {root}\n",
    )
    assert list(tmp_path.iterdir()) == []

    root.mkdir()
    assert f"rootfs: {root}: no root filesystem: no usr in it\n" in study(*words).stderr
    assert list(root.iterdir()) == []


def test_a_root_is_made_where_one_was_named_when_it_is_said_from_what(study, tmp_path):
    root = tmp_path / "root"
    tmp_path.chmod(0o755)
    done = study(
        *("run", "--profile", "smoke", "--no-report", "--metrics", "getppid", "--blocks", "1"),
        *("--rootfs", root, "--rootfs-from", "busybox", "--output", tmp_path / "run"),
    )

    assert done.returncode == 0, done.stderr
    assert (root / "usr/bin/timens-bench").is_file()


def test_a_folder_that_was_there_stays_when_nothing_was_measured(study, rootfs, tmp_path):
    """Only what the run has made goes with it."""
    output, above = tmp_path / "mine", tmp_path / "above"
    output.mkdir()
    words = ("run", "--profile", "smoke", "--rootfs", rootfs, "--arm", "broken=false")
    for _ in range(2):
        done = study(*words, "--output", output)
        assert (done.returncode, done.stderr) == (1, "timens-study: arm: broken: ended by itself\n")
        assert list(output.iterdir()) in ([], [output / "note"])
        (output / "note").write_text("of the user")
    assert (output / "note").read_text() == "of the user"

    assert study(*words, "--output", above / "run").returncode == 1
    assert not above.exists()
