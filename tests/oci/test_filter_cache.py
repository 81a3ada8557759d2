# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiled seccomp filters are kept, and what is kept is believed only where it can be."""

import errno
import os
import struct
import subprocess
import threading
from pathlib import Path

import pytest
from oci_kit import Bundle, Runtime
from seccomp_agent import Agent

from kit import USER_ID, as_user

ENTRIES_MAX = 64
HEADER = struct.Struct("=QIIII")  # checksum, length of the key, flags, instructions, reserved
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # return SECCOMP_RET_ALLOW
FORBIDDEN = "mkdir: can't create directory '/dev/shm/x': Permission denied\n"
OTHER_ID = 61111


@pytest.fixture
def forbids(bundle: Bundle) -> Bundle:
    """A container that tries what its profile forbids, and says so if it worked."""
    names = ["mkdir", "mkdirat"]
    bundle.linux["seccomp"] = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [{"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": 13}],
    }
    bundle.write("sh", "-c", "mkdir /dev/shm/x && echo made")
    return bundle


def said(runtime: Runtime, bundle: Bundle) -> str:
    done = runtime("run", "--bundle", bundle.folder, "box")
    return done.stdout + done.stderr


def entries(runtime: Runtime) -> list[Path]:
    return sorted((runtime.root / "@filters").iterdir())


def digest(data: bytes) -> int:
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def allow_all(entry: Path) -> None:
    """A whole entry with a right checksum whose program forbids nothing: seen when it is used."""
    data = entry.read_bytes()
    key_length = HEADER.unpack_from(data)[1]
    rest = struct.pack("=IIII", key_length, 0, 1, 0)
    rest += data[HEADER.size : HEADER.size + key_length] + ALLOW_ALL
    entry.write_bytes(struct.pack("=Q", digest(rest)) + rest)


def test_the_second_container_runs_with_the_filter_that_was_kept(runtime: Runtime, forbids: Bundle):
    assert said(runtime, forbids) == FORBIDDEN
    [entry] = entries(runtime)
    kept, inode = entry.read_bytes(), entry.stat().st_ino
    assert said(runtime, forbids) == FORBIDDEN
    assert (entries(runtime), entry.stat().st_ino) == ([entry], inode)
    assert entry.read_bytes() == kept
    assert (entry.stat().st_mode & 0o7777, entry.parent.stat().st_mode & 0o7777) == (0o600, 0o700)

    allow_all(entry)
    assert said(runtime, forbids) == "made\n"  # so it is what was kept, and not compiled again


def test_exec_uses_it_as_well(runtime: Runtime, forbids: Bundle):
    runtime.ok("create", "--bundle", forbids.write("sleep", "100"), "box")
    runtime.ok("start", "box")
    assert runtime("exec", "box", "mkdir", "/dev/shm/x").stderr == FORBIDDEN
    allow_all(entries(runtime)[0])
    assert runtime.ok("exec", "box", "mkdir", "/dev/shm/x") == ""
    runtime.ok("delete", "--force", "box")


def test_a_kept_filter_has_its_flags_and_its_agent(
    runtime: Runtime, forbids: Bundle, tmp_path: Path
):
    """The agent is who the bundle names now; the flags are those of the profile."""
    flags = ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]
    for _ in range(2):
        forbids.linux["seccomp"]["syscalls"][0] = {"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}
        path = tmp_path / "agent"
        path.unlink(missing_ok=True)
        forbids.linux["seccomp"].update(
            flags=flags, listenerPath=str(path), listenerMetadata="for the agent"
        )
        forbids.write()
        with Agent(path, lambda _: errno.EACCES) as agent:
            assert said(runtime, forbids) == FORBIDDEN
        assert len(agent.calls) == 1
        assert [state["metadata"] for state in agent.states] == ["for the agent"]
    [entry] = entries(runtime)
    wait_killable = 1 << 5
    assert HEADER.unpack_from(entry.read_bytes())[2] == wait_killable

    del forbids.linux["seccomp"]["listenerPath"], forbids.linux["seccomp"]["listenerMetadata"]
    forbids.write()
    assert "SCMP_ACT_NOTIFY needs an agent" in said(runtime, forbids)  # though a filter is kept


@pytest.mark.parametrize("place", [0, 12, HEADER.size, -1], ids=["sum", "head", "key", "program"])
def test_a_damaged_entry_is_made_again(runtime: Runtime, forbids: Bundle, place: int):
    assert said(runtime, forbids) == FORBIDDEN
    [entry] = entries(runtime)
    whole = entry.read_bytes()
    damaged = bytearray(whole)
    damaged[place] ^= 1
    for wrong in (bytes(damaged), whole[:-8], whole + b"\0", b""):
        entry.write_bytes(wrong)
        assert said(runtime, forbids) == FORBIDDEN
        assert entry.read_bytes() == whole


def test_an_entry_for_another_profile_is_not_taken_for_ours(runtime: Runtime, forbids: Bundle):
    assert said(runtime, forbids) == FORBIDDEN
    [ours] = entries(runtime)
    forbids.linux["seccomp"]["syscalls"] = []
    forbids.write()
    assert said(runtime, forbids) == "made\n"
    [other] = set(entries(runtime)) - {ours}
    ours.write_bytes(other.read_bytes())  # as if their digests were the same
    forbids.linux["seccomp"]["syscalls"] = [
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13}
    ]
    forbids.write()
    assert said(runtime, forbids) == FORBIDDEN


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: os.chown(entry, OTHER_ID, OTHER_ID),
        lambda entry: os.chown(entry.parent, OTHER_ID, OTHER_ID),
        lambda entry: entry.chmod(0o620),
        lambda entry: entry.parent.chmod(0o770),
        lambda entry: (entry.rename(entry.parent / "x"), entry.symlink_to("x")),
        lambda entry: (
            entry.parent.rename(entry.parents[1] / "@moved"),
            entry.parent.symlink_to("@moved"),
        ),
    ],
    ids=["its owner", "its folder's", "its mode", "its folder's mode", "a link", "a linked folder"],
)
def test_what_others_could_have_written_is_not_used(runtime: Runtime, forbids: Bundle, spoil):
    assert said(runtime, forbids) == FORBIDDEN
    [entry] = entries(runtime)
    allow_all(entry)
    spoil(entry)
    assert said(runtime, forbids) == FORBIDDEN


def test_many_creators_at_once_leave_one_whole_entry(runtime: Runtime, forbids: Bundle):
    forbids.write("true")
    done: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(
            target=lambda i=i: done.append(runtime("run", "--bundle", forbids.folder, f"box{i}"))
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(d.returncode, d.stderr) for d in done] == [(0, "")] * 8
    [entry] = entries(runtime)
    forbids.write("sh", "-c", "mkdir /dev/shm/x && echo made")
    assert said(runtime, forbids) == FORBIDDEN
    data = entry.read_bytes()
    assert digest(data[8:]) == HEADER.unpack_from(data)[0]


def test_the_oldest_goes_when_there_are_too_many(runtime: Runtime, forbids: Bundle):
    assert said(runtime, forbids) == FORBIDDEN
    [entry] = entries(runtime)
    for age in range(ENTRIES_MAX - 1):
        other = entry.parent / f"{age:016x}"
        other.touch(0o600)
        os.utime(other, (age, age))
    forbids.linux["seccomp"]["defaultErrnoRet"] = 7
    forbids.write()
    assert said(runtime, forbids) == FORBIDDEN
    names = {e.name for e in entries(runtime)}
    assert len(names) == ENTRIES_MAX
    assert f"{0:016x}" not in names
    assert {entry.name, f"{1:016x}"} < names


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming a user needs root")
def test_a_user_has_a_cache_too(shared_folder: Path, forbids: Bundle):
    folder = shared_folder / "oci-user"
    folder.mkdir()
    os.chown(folder, USER_ID, USER_ID)
    runtime = Runtime(folder)
    runtime.prefix = as_user()
    ids = [{"containerID": 0, "hostID": USER_ID, "size": 1}]
    forbids.linux["namespaces"].append({"type": "user"})
    forbids.linux.update(uidMappings=ids, gidMappings=ids)
    forbids.folder = folder
    forbids.write()
    assert said(runtime, forbids) == FORBIDDEN
    [entry] = entries(runtime)
    allow_all(entry)
    assert said(runtime, forbids) == "made\n"
