/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* show.h - every clock of clock_getres(2), on the host and inside */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Prints one table, or one JSON object on a line, of the clocks of `pid` (0: ours).
 * Returns 0, or -errno with *e filled. */
int clocks_show(pid_t pid, bool json, struct err *e);

/* The offsets of the time namespace that we are in, as two numbers of nanoseconds. */
struct own_offsets {
	long long monotonic_ns, boottime_ns;
};
int clocks_own_offsets(struct own_offsets *ret_offsets, struct err *e);
