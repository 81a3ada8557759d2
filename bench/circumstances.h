/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * circumstances.h - what else happened while a record was measured
 */
#pragma once

#include <stdint.h>

#define UNKNOWN (-1)

struct circumstances {
	int cpu;
	double wall_s;    /* CLOCK_REALTIME */
	uint64_t wall_ns; /* CLOCK_MONOTONIC_RAW */
	int64_t cpu_time_ns;
	int64_t run_delay_ns; /* waiting for a CPU; UNKNOWN without /proc/self/schedstat */
	int64_t steal_ticks;  /* of all CPUs together; UNKNOWN without /proc/stat */
	int64_t voluntary_switches;
	int64_t involuntary_switches;
	int64_t minor_faults;
};

/* Reads the slow sources first, so that the reading itself is not part of what follows. */
void circumstances_before(struct circumstances *c);

/* Reads the slow sources last. */
void circumstances_after(struct circumstances *c);
