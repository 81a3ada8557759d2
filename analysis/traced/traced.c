/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * traced.c - calls for a tracer to time, as the paper's programs were: each in a function of its
 * own, compiled with -pg.  The empty function is what the tracer itself costs.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TRACED __attribute__((noinline, noclone))

TRACED static void empty(void)
{
	__asm__ volatile("");
}

TRACED static void call_getppid(void)
{
	(void)syscall(SYS_getppid);
}

TRACED static void call_clock_getres(void)
{
	struct timespec t;

	(void)syscall(SYS_clock_getres, CLOCK_MONOTONIC, &t);
}

TRACED static void call_clock_gettime(void)
{
	struct timespec t;

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
}

TRACED static void call_gettimeofday(void)
{
	struct timeval t;

	(void)syscall(SYS_gettimeofday, &t, NULL);
}

TRACED static void call_vdso_clock_gettime(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
}

TRACED static void call_vdso_gettimeofday(void)
{
	struct timeval t;

	(void)gettimeofday(&t, NULL);
}

int main(int argc, char **argv)
{
	/* study/uftrace.py names them in this order: the trace holds addresses only. */
	static void (*const functions[])(void) = {
		empty,
		call_getppid,
		call_clock_getres,
		call_clock_gettime,
		call_gettimeofday,
		call_vdso_clock_gettime,
		call_vdso_gettimeofday,
	};
	const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;

	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
		for (long i = 0; i < calls; i++)
			functions[f]();
	return 0;
}
