/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* offsets_now.h - the offsets that make clocks, for another runtime to write */
#pragma once

struct clock_offsets;
struct clock_targets;
struct err;

/* Counted, as the kernel does, from the clocks of the initial time namespace; true at the moment
 * of the call.  Returns 0, or -errno with *e: -ERANGE if a clock would start out of bounds. */
int offsets_now(const struct clock_targets *targets, struct clock_offsets *ret, struct err *e);
