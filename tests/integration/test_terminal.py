# SPDX-License-Identifier: LGPL-2.1-or-later
"""A terminal of the container's own.  Source: pty(7)."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pytest


class Terminal:
    """A person at a terminal: what is typed, and what has been seen."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.seen = ""

    def set_size(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, text, timeout_s=10):
        end = time.monotonic() + timeout_s
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"no {text!r} in {self.seen!r}"
            if select.select([self.master], [], [], left)[0]:
                self.seen += os.read(self.master, 4096).decode()

    def attributes(self):
        return termios.tcgetattr(self.slave)[:4]


@pytest.fixture
def terminal():
    one = Terminal()
    yield one
    os.close(one.master)
    os.close(one.slave)


def start(runner, terminal, *args):
    def own_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    return runner.start(
        *args,
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=terminal.slave,
        preexec_fn=own_terminal,
    )


def test_a_shell_has_a_terminal_with_the_size_of_ours(run_as_anyone, rootfs, terminal):
    terminal.set_size(33, 77)
    before = terminal.attributes()
    child = start(run_as_anyone, terminal, "--tty", rootfs, "sh")
    terminal.type("stty size; tty; test -t 0 && test -t 2 && echo is-a-$((40+2))-tty\n")
    terminal.wait_for("33 77")
    terminal.wait_for("/dev/pts/0")
    terminal.wait_for("is-a-42-tty")
    assert terminal.attributes() != before  # raw: the container's terminal does the echo
    terminal.type("exit 7\n")

    assert child.wait(10) == 7
    assert terminal.attributes() == before


def test_a_change_of_size_arrives(run, rootfs, terminal):
    script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done"
    child = start(run, terminal, "--tty", rootfs, "sh", "-c", script)
    terminal.wait_for("ready")
    terminal.set_size(50, 60)
    os.kill(child.pid, signal.SIGWINCH)
    terminal.wait_for("50 60")
    child.wait(10)


def test_control_c_reaches_the_foreground_inside_and_not_the_launcher(run, rootfs, terminal):
    child = start(run, terminal, "--tty", rootfs, "sh")
    terminal.type("sleep 60; echo after-$?\n")
    terminal.wait_for("sleep 60")
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.type("echo sta''tus $?\n")
    terminal.wait_for("status 130")
    terminal.type("exit\n")
    child.wait(10)


def test_output_before_the_end_is_never_lost(run, rootfs):
    result = run("--tty", rootfs, "sh", "-c", "seq 1 5000", input="")

    assert result.stdout.split() == [str(n) for n in range(1, 5001)]


def test_a_pipe_can_feed_a_terminal_and_its_end_is_the_end_of_file_key(run, rootfs):
    result = run("--tty", rootfs, "sh", "-c", "stty -echo; cat; echo done", input="one\ntwo\n")

    assert result.returncode == 0
    assert result.stdout.replace("\r\n", "\n").endswith("done\n")
    assert "one" in result.stdout


def test_the_console_and_the_terminal_belong_to_the_user(run, rootfs):
    show = "stat -c '%u %F' /dev/console /dev/pts/0"
    result = run("--tty", "--user", "app", rootfs, "sh", "-c", show, input="")

    assert result.stdout.splitlines() == ["7 character special file"] * 2


def test_without_a_terminal_the_streams_are_pipes(run, rootfs):
    assert run(rootfs, "sh", "-c", "test -t 0 || echo none").stdout == "none\n"
