/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lab/tsc_clock.h"

#include <sys/time.h>

#define MULT_BITS 32

uint64_t tsc_clock_mhz_by_sleep(enum tick_source ticks, uint64_t wait_us)
{
	const struct timespec wait = { .tv_sec = (time_t)(wait_us / 1000000),
				       .tv_nsec = (long)(wait_us % 1000000) * 1000 };
	uint64_t start = ticks_unordered(ticks);

	if (nanosleep(&wait, NULL) < 0)
		return 0;
	return (ticks_unordered(ticks) - start) / wait_us;
}

static void reload(struct tsc_clock *c, uint64_t now)
{
	struct timeval t;
	struct timespec precise;

	if (c->mhz) {
		(void)gettimeofday(&t, NULL);
		c->base_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
		c->base_ticks = now;
	} else {
		/* The middle of a bracket: the reading itself takes as long as it takes. */
		uint64_t before = ticks_now(c->ticks);

		(void)clock_gettime(CLOCK_REALTIME, &precise);
		c->base_ns = (uint64_t)precise.tv_sec * 1000000000 + (uint64_t)precise.tv_nsec;
		c->base_ticks = before + (ticks_now(c->ticks) - before) / 2;
	}
	c->reloads++;
}

struct tsc_clock tsc_clock_whole_mhz(enum tick_source ticks, uint64_t mhz, uint64_t reload_ns)
{
	struct tsc_clock c = { .ticks = ticks, .mhz = mhz, .reload_ns = reload_ns };

	reload(&c, ticks_unordered(ticks));
	return c;
}

struct tsc_clock tsc_clock_exact(enum tick_source ticks, double ns_per_tick, uint64_t reload_ns)
{
	struct tsc_clock c = {
		.ticks = ticks,
		.mult = (uint64_t)(ns_per_tick * (double)(1ull << MULT_BITS) + 0.5),
		.reload_ns = reload_ns,
	};

	reload(&c, 0);
	return c;
}

static uint64_t passed_ns(const struct tsc_clock *c, uint64_t now)
{
	uint64_t ticks = now - c->base_ticks;

	if (c->mhz)
		return ticks / c->mhz * 1000;
	return (uint64_t)((unsigned __int128)ticks * c->mult >> MULT_BITS);
}

uint64_t tsc_clock_now(struct tsc_clock *c)
{
	uint64_t now = ticks_unordered(c->ticks), passed;

	/* A counter that lies before the base is another CPU's. */
	if (now < c->base_ticks || (passed = passed_ns(c, now)) >= c->reload_ns) {
		reload(c, now);
		return c->base_ns;
	}
	return c->base_ns + passed;
}

long tsc_clock_gettimeofday(long clock, long timeval)
{
	uint64_t now = tsc_clock_now((struct tsc_clock *)clock);
	struct timeval *t = (struct timeval *)timeval;

	t->tv_sec = (time_t)(now / 1000000000);
	t->tv_usec = (suseconds_t)(now % 1000000000 / 1000);
	return 0;
}
