/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/clock_target.h"

#include <errno.h>

#include "base/err.h"

/* KTIME_SEC_MAX / 2, include/linux/ktime.h: what a clock may read when its offset is written. */
static const struct clock_offset latest_start = { .s = INT64_C(4611686018) };

/* What the initial namespace's clock reads: the caller's reading without the caller's offset. */
static struct clock_offset initial(struct clock_offset reading, struct clock_offset own)
{
	return clock_offset_sub(reading, own);
}

static struct clock_offset start_of(const struct clock_target *target, struct clock_offset now)
{
	return target->aim == CLOCK_READS ? target->value : clock_offset_add(now, target->value);
}

struct clock_offsets clock_targets_start(const struct clock_targets *targets,
					 const struct clock_offsets *now)
{
	return (struct clock_offsets){ start_of(&targets->monotonic, now->monotonic),
				       start_of(&targets->boottime, now->boottime) };
}

static int resolve(const char *clock, const struct clock_target *target,
		   struct clock_offset reading, struct clock_offset own,
		   struct clock_offset *ret_offset, struct err *e)
{
	struct clock_offset start = start_of(target, reading), lowest, highest;
	char wanted[CLOCK_OFFSET_TEXT], low[CLOCK_OFFSET_TEXT], high[CLOCK_OFFSET_TEXT];

	/* The kernel compares whole seconds, kernel/time/namespace.c proc_timens_set_offset(). */
	if (start.s >= 0 && start.s <= latest_start.s) {
		*ret_offset = clock_offset_sub(start, initial(reading, own));
		return 0;
	}
	lowest = target->aim == CLOCK_SHIFTED
			 ? clock_offset_sub((struct clock_offset){ 0 }, reading)
			 : (struct clock_offset){ 0 };
	highest = clock_offset_add(latest_start, lowest);
	(void)err_set(
		e, ERANGE,
		"%s %s would start the clock %s; allowed on this host at this moment: %s to %s",
		clock, clock_offset_format(target->value, wanted),
		start.s < 0 ? "below zero" : "beyond 146 years", clock_offset_format(lowest, low),
		clock_offset_format(highest, high));
	return -ERANGE;
}

int clock_targets_resolve(const struct clock_targets *targets, const struct clock_view *now,
			  struct clock_offsets *ret_offsets, struct err *e)
{
	struct clock_offsets offsets = { 0 };
	int r;

	r = resolve("monotonic", &targets->monotonic, now->monotonic, now->own.monotonic,
		    &offsets.monotonic, e);
	if (r < 0)
		return r;
	r = resolve("boottime", &targets->boottime, now->boottime, now->own.boottime,
		    &offsets.boottime, e);
	if (r < 0)
		return r;
	*ret_offsets = offsets;
	return 0;
}

bool clock_raw_starts_below_zero(const struct clock_offsets *offsets, const struct clock_view *now,
				 struct clock_offset *ret_start)
{
	*ret_start = clock_offset_add(initial(now->raw, now->own.monotonic), offsets->monotonic);
	return ret_start->s < 0;
}
