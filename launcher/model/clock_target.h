/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock_target.h - what the clocks inside shall do, and which offsets that makes
 *
 * The kernel takes offsets; people also ask for readings ("uptime zero").  A reading becomes an
 * offset only at the moment of the write (steps/clock_offsets.c), so that it is exact.
 *
 * Layer: model; pure, no system call.
 */
#pragma once

#include <stdbool.h>

#include "model/clock_offset.h"

struct err;

enum clock_aim {
	CLOCK_SHIFTED = 0, /* value is added to what the caller's clock reads; 0 leaves it alone */
	CLOCK_READS,       /* the clock reads value when the offset is written */
};

struct clock_target {
	enum clock_aim aim;
	struct clock_offset value;
};

struct clock_targets {
	struct clock_target monotonic, boottime;
};

/* The caller's clocks, read in one go. */
struct clock_view {
	struct clock_offset monotonic, raw, boottime; /* as the caller reads them */
	struct clock_offsets own;                     /* the caller's own offsets, zero on a host */
};

/* The offsets to write, which the kernel counts from the initial time namespace and not from the
 * caller's: in a nested namespace the caller's own are added.
 *
 * Returns 0, or -ERANGE with *e naming the clock and the range allowed at this moment: a clock
 * would start below zero, or beyond 4611686018 s (146 years; kernel/time/namespace.c). */
int clock_targets_resolve(const struct clock_targets *targets, const struct clock_view *now,
			  struct clock_offsets *ret_offsets, struct err *e);

/* What the clocks inside read if they start now, without a look at the bounds. */
struct clock_offsets clock_targets_start(const struct clock_targets *targets,
					 const struct clock_offsets *now);

/* CLOCK_MONOTONIC_RAW takes the offset of CLOCK_MONOTONIC but runs apart from it, usually behind.
 * True if it would start below zero, which the kernel does not refuse; *ret_start says where. */
bool clock_raw_starts_below_zero(const struct clock_offsets *offsets, const struct clock_view *now,
				 struct clock_offset *ret_start);
