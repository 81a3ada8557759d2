# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the articles printed.  Times in seconds, frequencies in MHz, as they stand there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Times:
    """The three lines of time(1)."""

    real_s: float
    user_s: float
    sys_s: float


EC2 = "Packagecloud, “Two frequently used system calls are ~77% slower on AWS EC2”"
EC2_MACHINE = "m4.xlarge on Xen, Amazon Linux 2016.09"
# calls -> with the vDSO, by system call
EC2_LOOPS = {
    5_000_000: (Times(0.123, 0.120, 0.000), Times(0.547, 0.120, 0.424)),
    50_000_000: (Times(1.225, 1.224, 0.000), Times(5.459, 1.316, 4.140)),
    500_000_000: (Times(12.247, 12.244, 0.000), Times(54.606, 13.192, 41.412)),
}
EC2_STRACE = (100, 100)  # calls, of which strace saw

MORLE = "Morle, “Who Stole gettimeofday() System Calls From Oracle strace() sessions?”, 2012"
MORLE_CALLS = 1_000_000
# vsyscall64 mode -> what time(1) said of the loop under strace -c, and the rows that strace saw
MORLE_MODES = {
    0: (Times(12.737, 3.084, 9.466), 1_000_000),
    1: (Times(0.052, 0.046, 0.004), 0),
    2: (Times(0.043, 0.038, 0.003), 0),
}

GERRY = "Gerry Yang, on gettimeofday"
GERRY_MHZ = 2397  # of the processor, as its kernel said
GERRY_SLEEPS = {10: 2410, 100: 2395, 500: -280_931_417}  # microseconds slept -> MHz found
GERRY_CLOCK_NS, GERRY_SYSTEM_NS = 50.0, 400.0  # 20 and 2.5 million readings a second, at 2 GHz
GERRY_WORST_US = (5626, 4927)  # the largest error of two runs
