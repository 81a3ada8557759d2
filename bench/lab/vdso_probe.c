/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lab/vdso_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/time_filter.h"
#include "vdso.h"

/* How the vDSO can know a clock. */
enum kind_of_clock {
	FROM_COUNTER, /* counter and conversion are in its page, if the clock source allows */
	FROM_PAGE,    /* the time of the last tick is in its page */
	CPU_TIME,     /* only the scheduler knows */
	NOT_SERVED,   /* could be, and is not */
};

static const struct {
	const char *name;
	clockid_t id;
	enum kind_of_clock kind;
} clocks[] = {
	{ "CLOCK_REALTIME", CLOCK_REALTIME, FROM_COUNTER },
	{ "CLOCK_MONOTONIC", CLOCK_MONOTONIC, FROM_COUNTER },
	{ "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW, FROM_COUNTER },
	{ "CLOCK_BOOTTIME", CLOCK_BOOTTIME, FROM_COUNTER },
	{ "CLOCK_TAI", CLOCK_TAI, FROM_COUNTER },
	{ "CLOCK_REALTIME_COARSE", CLOCK_REALTIME_COARSE, FROM_PAGE },
	{ "CLOCK_MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE, FROM_PAGE },
	{ "CLOCK_PROCESS_CPUTIME_ID", CLOCK_PROCESS_CPUTIME_ID, CPU_TIME },
	{ "CLOCK_THREAD_CPUTIME_ID", CLOCK_THREAD_CPUTIME_ID, CPU_TIME },
	{ "CLOCK_REALTIME_ALARM", CLOCK_REALTIME_ALARM, NOT_SERVED },
	{ "CLOCK_BOOTTIME_ALARM", CLOCK_BOOTTIME_ALARM, NOT_SERVED },
};

#define CLOCKS (sizeof clocks / sizeof *clocks)

const char *vdso_clock_name(clockid_t id)
{
	for (size_t i = 0; i < CLOCKS; i++)
		if (clocks[i].id == id)
			return clocks[i].name;
	return NULL;
}

const char *vdso_probe_reason(const struct probe *probe)
{
	if (probe->answer == ANSWER_USER_SPACE)
		return NULL;
	if (probe->answer == ANSWER_MISSING)
		return "missing";
	for (size_t i = 0; i < CLOCKS; i++) {
		if (!probe->clock || clocks[i].id != probe->id)
			continue;
		if (clocks[i].kind == CPU_TIME)
			return "cpu_time_clock";
		if (clocks[i].kind != FROM_COUNTER)
			return "clock_id";
	}
	return probe->answer == ANSWER_ERROR ? "clock_id" : "clock_source";
}

typedef int clock_fn(clockid_t id, struct timespec *t);
typedef int time_of_day_fn(struct timeval *t, void *zone);
typedef time_t time_fn(time_t *t);

/* What the C library made of our filter is in errno, what the vDSO made of it is its result. */
static enum answer judge(long result, int saved_errno, enum route route)
{
	if (result >= 0)
		return ANSWER_USER_SPACE;
	if (route == ROUTE_LIBC ? saved_errno == REFUSED_ERRNO : result == -REFUSED_ERRNO)
		return ANSWER_SYSTEM_CALL;
	return ANSWER_ERROR;
}

static enum answer call(const struct probe *probe, const void *function)
{
	struct timespec spec;
	struct timeval val;
	long result;

	if (!function)
		return ANSWER_MISSING;
	errno = 0;
	if (probe->clock)
		result = ((clock_fn *)function)(probe->id, &spec);
	else if (strcmp(probe->function, "time") == 0)
		result = ((time_fn *)function)(NULL);
	else
		result = ((time_of_day_fn *)function)(&val, NULL);
	return judge(result, errno, probe->route);
}

static const void *find(const struct probe *probe)
{
	static const struct {
		const char *name;
		const char *symbol;
		const void *libc;
	} functions[] = {
		{ "clock_gettime", VDSO("clock_gettime"), (const void *)clock_gettime },
		{ "clock_getres", VDSO("clock_getres"), (const void *)clock_getres },
		{ "gettimeofday", VDSO("gettimeofday"), (const void *)gettimeofday },
		{ "time", VDSO("time"), (const void *)time },
	};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, probe->function) == 0)
			return probe->route == ROUTE_LIBC ? functions[i].libc
							  : vdso_function(functions[i].symbol);
	return NULL;
}

static int plan(struct probe *probes)
{
	static const enum route routes[] = { ROUTE_VDSO, ROUTE_LIBC };
	static const char *const by_clock[] = { "clock_gettime", "clock_getres" };
	static const char *const plain[] = { "gettimeofday", "time" };
	int n = 0;

	for (int r = 0; r < 2; r++) {
		for (int f = 0; f < 2; f++)
			for (size_t c = 0; c < CLOCKS; c++)
				probes[n++] = (struct probe){ .function = by_clock[f],
							      .clock = clocks[c].name,
							      .id = clocks[c].id,
							      .route = routes[r] };
		for (int f = 0; f < 2; f++)
			probes[n++] = (struct probe){ .function = plain[f], .route = routes[r] };
	}
	return n;
}

/* Runs in the child; the array is shared with the parent. */
static int try_all(struct probe *probes, int n)
{
	struct problem p;

	if (time_filter_refuse(&p) < 0) {
		problem_print(&p);
		return 1;
	}
	for (int i = 0; i < n; i++)
		probes[i].answer = call(&probes[i], find(&probes[i]));
	return 0;
}

int vdso_probe_all(struct probe probes[PROBES_MAX], struct problem *p)
{
	const size_t size = PROBES_MAX * sizeof *probes;
	struct probe *shared =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n, status;
	pid_t child;

	if (shared == MAP_FAILED)
		return problem_set(p, errno, NULL, "vdso-used: no shared memory");
	n = plan(shared);
	child = fork();
	if (child == 0)
		_exit(try_all(shared, n));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return problem_set(p, errno, NULL, "vdso-used: cannot start a process");
	if (status != 0)
		return problem_set(p, 0, NULL, "vdso-used: the probing process failed");
	memcpy(probes, shared, size);
	(void)munmap(shared, size);
	return n;
}
