/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tsc_clock.h - clocks in user space on the processor's counter, rdtsc or cntvct
 *
 * Each takes the time from the kernel now and then ("reload") and counts ticks in between.
 * None may be used where the counters of two CPUs differ, where the machine may be suspended or
 * moved, or where a clock must not step back: they are here to be measured.
 */
#pragma once

#include <stdint.h>

#include "problem.h"
#include "ticks.h"

#define NEVER UINT64_MAX

struct tsc_clock {
	enum tick_source ticks;
	/* Either a whole number of MHz and microseconds, as such clocks were written ... */
	uint64_t mhz; /* 0: the other kind */
	/* ... or nanoseconds = ticks * mult >> 32 */
	uint64_t mult;
	uint64_t reload_ns;
	uint64_t base_ticks;
	uint64_t base_ns; /* CLOCK_REALTIME, through the vDSO */
	uint64_t reloads;
};

/* Ticks per microsecond by one sleep, cut to a whole number; 0 when the sleep was interrupted. */
uint64_t tsc_clock_mhz_by_sleep(enum tick_source ticks, uint64_t wait_us);

/* A clock of whole MHz. */
struct tsc_clock tsc_clock_whole_mhz(enum tick_source ticks, uint64_t mhz, uint64_t reload_ns);

/* A clock of 2^-32 ns. */
struct tsc_clock tsc_clock_exact(enum tick_source ticks, double ns_per_tick, uint64_t reload_ns);

/* The time, in nanoseconds of CLOCK_REALTIME as this clock knows it. */
uint64_t tsc_clock_now(struct tsc_clock *c);

/* For loop_function(): reads the clock into a struct timeval, as gettimeofday() does. */
long tsc_clock_gettimeofday(long clock, long timeval);
