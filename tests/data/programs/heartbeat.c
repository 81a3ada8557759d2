/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A heartbeat with a bug of a well-known class: docs/demo-49-days.md tells its story.
 *
 * The tick is 32 bits wide and wraps after 49.7 days.  The deadline is 64 bits wide and does not:
 * close to the wrap it lies beyond every value that the tick can ever have.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { PERIOD_MS = 500 };

static uint32_t tick_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

static void wait_a_period(void)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	uint32_t start = tick_ms();
#ifdef FIXED
	while ((uint32_t)(tick_ms() - start) < PERIOD_MS)
		nanosleep(&nap, NULL);
#else
	uint64_t deadline = (uint64_t)start + PERIOD_MS;

	while (tick_ms() < deadline)
		nanosleep(&nap, NULL);
#endif
}

int main(void)
{
	for (;;) {
		printf("beat at tick %u\n", tick_ms());
		fflush(stdout);
		wait_a_period();
	}
}
