/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ticks.h"

#include <sys/prctl.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *ticks_name(enum tick_source source)
{
	static const char *const names[TICKS_SOURCES] = {
		[TICKS_RDTSCP] = "rdtscp",
		[TICKS_CNTVCT] = "cntvct",
		[TICKS_CLOCK_MONOTONIC_RAW] = "clock_monotonic_raw",
	};

	return names[source];
}

#if defined(__x86_64__)
static bool rdtscp_works(void)
{
	const unsigned int edx_rdtscp = 1u << 27; /* CPUID 8000_0001h */
	unsigned int a, b, c, d;
	int mode = PR_TSC_ENABLE;

	if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d & edx_rdtscp))
		return false;
	/* A process may have been forbidden to read the counter: prctl(2), PR_SET_TSC. */
	return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}
#endif

bool ticks_work(enum tick_source source)
{
#if defined(__x86_64__)
	if (source == TICKS_RDTSCP)
		return rdtscp_works();
#elif defined(__aarch64__)
	if (source == TICKS_CNTVCT)
		return true;
#endif
	return source == TICKS_CLOCK_MONOTONIC_RAW;
}

enum tick_source ticks_best(void)
{
	for (enum tick_source s = 0; s < TICKS_CLOCK_MONOTONIC_RAW; s++)
		if (ticks_work(s))
			return s;
	return TICKS_CLOCK_MONOTONIC_RAW;
}
