# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does reading the clock enter the kernel?  Asked of the kernel itself, not guessed from speed.

A forked child forbids itself the system call clock_gettime by seccomp and then reads the clock: if
it still gets an answer, the answer came from the vDSO.  Exact, unprivileged, works in containers.
Source: seccomp(2), vdso(7).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import time

CLOCK_GETTIME = {"x86_64": 228, "aarch64": 113}
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
BPF_LOAD_WORD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
RETURN_ALLOW, RETURN_ERRNO = 0x7FFF0000, 0x00050000

USED, NOT_USED, UNKNOWN = 0, 1, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _forbid(number: int) -> bool:
    """After this, the system call answers EPERM in this process; False when not possible."""
    rows = (
        (BPF_LOAD_WORD, 0, 0, 0),  # seccomp_data.nr
        (BPF_JUMP_EQUAL, 0, 1, number),
        (BPF_RETURN, 0, 0, RETURN_ERRNO | errno.EPERM),
        (BPF_RETURN, 0, 0, RETURN_ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *row) for row in rows))
    program = _Program(len(rows), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    refused = libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    return bool(refused == 0)


def _try(number: int, clock: int) -> int:
    if not _forbid(number):
        return UNKNOWN
    try:
        time.clock_gettime(clock)
    except OSError:
        return NOT_USED
    return USED


def answers(clock: int = time.CLOCK_MONOTONIC) -> bool | None:
    """Whether the vDSO answers for this clock; None where it cannot be found out."""
    number = CLOCK_GETTIME.get(platform.machine())
    if number is None:
        return None
    child = os.fork()
    if child == 0:
        os._exit(_try(number, clock))
    _, status = os.waitpid(child, 0)
    return {USED: True, NOT_USED: False}.get(os.waitstatus_to_exitcode(status))
