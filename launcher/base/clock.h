/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.h - one reading of one clock, by system call */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds; 0 for a clock that this kernel does not have.  64 bits last for 292 years, which no
 * clock of the kernel exceeds. */
static inline int64_t clock_now_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)syscall(SYS_clock_gettime, clock, &t); /* fails only for an unknown clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
