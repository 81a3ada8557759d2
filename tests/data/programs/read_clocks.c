/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints CLOCK_MONOTONIC and CLOCK_BOOTTIME in nanoseconds. */
#include <stdio.h>
#include <time.h>

static long long read_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void)
{
	long long monotonic = read_ns(CLOCK_MONOTONIC);

	printf("%lld %lld\n", monotonic, read_ns(CLOCK_BOOTTIME));
	return 0;
}
