/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probes.h - every way to read a clock or to wait for one, as small functions
 *
 * Each runs in a process of its own inside the time namespace in question, and only tells what it
 * saw; clocks/verify.c judges.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct probe_result {
	int error; /* errno if this system cannot do it at all, else 0 */
	/* A reading stands for an interval: /proc/uptime is cut to hundredths, sysinfo(2) rounded
	 * up to seconds.  For a wait both are how long after its deadline it woke. */
	int64_t low_ns, high_ns;
};

struct probe {
	const char *name;
	clockid_t clock; /* whose offset it must follow */
	bool waits;
	const char *known; /* why the kernel is known to disagree, or NULL */
	void (*run)(clockid_t clock, struct probe_result *ret_result);
};

/* All of them, readings first. */
const struct probe *clocks_probes(size_t *ret_count);
