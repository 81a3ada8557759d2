/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* near_wrap.h - the readings at which well-known counters of time overflow
 *
 * Layer: model; pure, no system call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/clock_offset.h"

struct err;

struct near_wrap {
	const char *name; /* unit and bits: ms32 */
	int bits;         /* it happens when the clock has counted 2^bits units */
	int64_t unit_ns;
	const char *type;    /* which type overflows, or loses precision */
	const char *seen_in; /* APIs and systems that count so */
};

/* All of them, soonest first. */
const struct near_wrap *near_wraps(size_t *ret_count);

/* The clock's reading at which it happens. */
struct clock_offset near_wrap_at(const struct near_wrap *wrap);

/* Reads NAME or NAME-DURATION, "ms32-5s": the reading this long (without a duration: 30 s) before
 * the wrap.  Returns 0, or -EINVAL or -ERANGE with *e filled. */
int near_wrap_parse(const char *text, struct clock_offset *ret_reading, struct err *e);

/* What --uptime and the annotation run.timens.uptime take: a duration that is not negative,
 * "near:" and what near_wrap_parse() reads, or "random": up to a year, made of these 64 random
 * bits, to the millisecond so that it can be typed again. */
int uptime_parse(const char *text, uint64_t random_bits, struct clock_offset *ret_reading,
		 struct err *e);
