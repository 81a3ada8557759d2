/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ticks.h - the counter that times everything
 *
 * Never clock_gettime() through the vDSO: it is one of the calls whose cost a time namespace
 * changes, and an instrument must not change with what it measures.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum tick_source {
	TICKS_RDTSCP,              /* x86-64 */
	TICKS_CNTVCT,              /* arm64 */
	TICKS_CLOCK_MONOTONIC_RAW, /* the system call; slow, so batches must be longer */
	TICKS_SOURCES,
};

/* "rdtscp", "cntvct", "clock_monotonic_raw": the words of schemas/environment.schema.json. */
const char *ticks_name(enum tick_source source);

/* True when this processor and kernel let user space read the counter. */
bool ticks_work(enum tick_source source);

/* The best counter that works here. */
enum tick_source ticks_best(void);

/* Nanoseconds of CLOCK_MONOTONIC_RAW, by system call. */
static inline uint64_t raw_clock_ns(void)
{
	struct timespec t;

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads the counter; work does not move across the reading in either direction. */
static inline uint64_t ticks_now(enum tick_source source)
{
#if defined(__x86_64__)
	if (source == TICKS_RDTSCP) {
		uint32_t low, high;

		__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
		return (uint64_t)high << 32 | low;
	}
#elif defined(__aarch64__)
	if (source == TICKS_CNTVCT) {
		uint64_t now;

		__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now) : : "memory");
		return now;
	}
#endif
	(void)source;
	return raw_clock_ns();
}

/* Reads the counter as it comes: cheaper, and the processor may do it earlier or later than the
 * program says. */
static inline uint64_t ticks_unordered(enum tick_source source)
{
#if defined(__x86_64__)
	if (source == TICKS_RDTSCP)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (source == TICKS_CNTVCT) {
		uint64_t now;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
		return now;
	}
#endif
	return ticks_now(source);
}

/* Tells the processor that this thread only waits. */
static inline void cpu_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
