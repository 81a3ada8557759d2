/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "calibrate.h"

#define BRACKETS 20
#define STEPS 2000

struct point {
	uint64_t ticks;
	uint64_t ns;
};

static struct point read_point(enum tick_source source)
{
	uint64_t tightest = UINT64_MAX;
	struct point best = { 0 };

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = ticks_now(source), ns = raw_clock_ns();
		uint64_t width = ticks_now(source) - before;

		if (width < tightest) {
			tightest = width;
			best = (struct point){ .ticks = before + width / 2, .ns = ns };
		}
	}
	return best;
}

double calibrate_ns_per_tick(enum tick_source source, uint64_t apart_ns)
{
	const struct timespec pause = { .tv_sec = (time_t)(apart_ns / 1000000000),
					.tv_nsec = (long)(apart_ns % 1000000000) };
	struct point first, last;

	if (source == TICKS_CLOCK_MONOTONIC_RAW)
		return 1;
	first = read_point(source);
	(void)nanosleep(&pause, NULL); /* cut short by a signal, it only loses precision */
	last = read_point(source);
	return (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
}

uint64_t calibrate_granularity(enum tick_source source)
{
	uint64_t divisor = 0, last = ticks_now(source);

	for (int i = 0; i < STEPS; i++) {
		uint64_t now = ticks_now(source), a = now - last, b = divisor;

		while (b != 0) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		divisor = a;
		last = now;
	}
	return divisor;
}
