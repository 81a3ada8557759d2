/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock_offsets.h - give the container its own clocks
 *
 * Source: time_namespaces(7), "/proc/PID/timens_offsets".
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_*.c only.
 */
#pragma once

#include "model/clock_target.h"

struct err;

/* Would these clocks be accepted now?  Changes nothing; warns if CLOCK_MONOTONIC_RAW would start
 * below zero, which the kernel allows.  Returns 0, or -ERANGE with the range allowed in *e. */
int clock_offsets_check(const struct clock_targets *targets, struct err *e);

/* What to write into timens_offsets for these clocks at this moment.
 * Returns 0, or -errno with *e: -ERANGE as above. */
int clock_offsets_now(const struct clock_targets *targets, struct clock_offsets *ret_offsets,
		      struct err *e);

/* With --verbose: says what the clocks read now, just before the command starts. */
void clock_offsets_tell(void);

/* Creates a time namespace with these clocks and moves the calling process into it.
 *
 * The caller must have one thread, and CAP_SYS_TIME and CAP_SYS_ADMIN in the user namespace
 * that will own the new time namespace.
 *
 * Returns 0, or a negative errno with *e filled:
 *   -ERANGE  a clock would start below zero, or beyond about 146 years
 *   -EPERM   a capability is missing
 *   -EINVAL  the kernel has no time namespaces
 */
int clock_offsets_enter(const struct clock_targets *targets, struct err *e);
