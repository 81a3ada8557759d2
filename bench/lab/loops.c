/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * loops - the same number of readings of the time by three routes, as time(1) would time them
 *
 * Today's form of two old experiments: gettimeofday() where the vDSO can and cannot be used, and
 * the modes 0, 1 and 2 of the former /proc/sys/kernel/vsyscall64.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "record.h"
#include "request.h"
#include "subject.h"

#define CALLS_MAX 1000000000
#define SLICES 100

/* The metrics that are looped over, by what the articles call the routes. */
static const struct loop {
	const char *name;
	const char *metric;
	int vsyscall64; /* the former mode that it corresponds to; UNKNOWN: none */
} loops[] = {
	{ "raw", "gettimeofday", 0 },
	{ "vdso", "vdso_gettimeofday", 1 },
	{ "coarse", "vdso_clock_gettime_realtime_coarse", 2 },
	{ "libc", "libc_gettimeofday", UNKNOWN },
};

#define LOOPS (sizeof loops / sizeof *loops)

struct run {
	unsigned long calls;
	bool wanted[LOOPS];
	enum tick_source ticks;
};

static uint64_t us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* In a process of its own, so that its CPU time is that of the loop. */
static int run_loop(const struct loop *l, const struct run *run, struct problem *p)
{
	const uint32_t slice = (uint32_t)(run->calls / SLICES);
	uint64_t ticks[SLICES], start_ns, real_ns;
	struct rusage before, after;
	struct subject s;
	long results = 0;

	if (subject_open(&s, metric_find(l->metric), slice, p) < 0)
		return -1;
	(void)getrusage(RUSAGE_SELF, &before);
	start_ns = raw_clock_ns();
	for (int i = 0; i < SLICES; i++) {
		uint64_t start = ticks_now(run->ticks);

		results |= subject_run(&s, slice);
		ticks[i] = ticks_now(run->ticks) - start;
	}
	real_ns = raw_clock_ns() - start_ns;
	(void)getrusage(RUSAGE_SELF, &after);
	if (subject_failed(&s, results))
		return problem_set(p, 0, NULL, "loops: %s: a call failed", l->name);

	printf("{\"loop\":\"%s\",\"metric\":\"%s\",\"vsyscall64\":", l->name, l->metric);
	if (l->vsyscall64 == UNKNOWN)
		fputs("null", stdout);
	else
		printf("%d", l->vsyscall64);
	printf(",\"calls\":%" PRIu64 ",\"real_ns\":%" PRIu64 ",\"user_us\":%" PRIu64
	       ",\"sys_us\":%" PRIu64 ",\"slice_calls\":%u,\"slice_ticks\":[",
	       (uint64_t)slice * SLICES, real_ns, us(after.ru_utime) - us(before.ru_utime),
	       us(after.ru_stime) - us(before.ru_stime), slice);
	for (int i = 0; i < SLICES; i++)
		printf("%s%" PRIu64, i ? "," : "", ticks[i]);
	puts("]}");
	return 0;
}

static int fork_loop(const struct loop *l, const struct run *run)
{
	struct problem p;
	pid_t child;
	int status;

	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		status = run_loop(l, run, &p) < 0 ? EXIT_FAILED : 0;
		if (status)
			problem_print(&p);
		exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		(void)problem_set(&p, errno, NULL, "loops: cannot start a process");
		problem_print(&p);
		return EXIT_FAILED;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int take_route(struct run *run, const char *name, struct problem *p)
{
	for (size_t i = 0; i < LOOPS; i++) {
		if (strcmp(loops[i].name, name) == 0) {
			run->wanted[i] = true;
			return 0;
		}
	}
	return problem_set(p, 0, "raw, vdso, coarse or libc", "loops: '%s' is not a route", name);
}

static int read_options(int argc, char **argv, struct run *run, struct problem *p)
{
	static const struct option options[] = {
		{ "calls", required_argument, NULL, 'c' },
		{ 0 },
	};
	int c, status = 0;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'c')
			return problem_set(p, 0, "timens-bench --help", "loops: bad option");
		if (request_number(optarg, CALLS_MAX, &run->calls) < 0 || run->calls < SLICES)
			return problem_set(p, 0, NULL,
					   "loops: --calls: '%s' is not a number from %d to %d",
					   optarg, SLICES, CALLS_MAX);
	}
	for (int i = optind; i < argc && status == 0; i++)
		status = take_route(run, argv[i], p);
	if (optind == argc)
		memset(run->wanted, true, sizeof run->wanted);
	return status;
}

int command_loops(int argc, char **argv)
{
	struct run run = { .calls = 5000000, .ticks = ticks_best() };
	struct problem p;
	int status = 0;

	if (read_options(argc, argv, &run, &p) < 0) {
		problem_print(&p);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < LOOPS && status == 0; i++)
		if (run.wanted[i])
			status = fork_loop(&loops[i], &run);
	return status;
}
