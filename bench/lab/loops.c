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
	unsigned long
		parts; /* of each loop; with more than one, the routes take turns part by part */
	bool wanted[LOOPS];
	enum tick_source ticks;
};

/* One part of a loop, and what time(1) would say of it. */
struct part {
	uint32_t slices;
	uint32_t slice_calls;
	uint64_t ticks[SLICES];
	uint64_t real_ns, user_us, sys_us;
};

static uint64_t us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static int run_part(struct subject *s, enum tick_source source, struct part *part,
		    struct problem *p)
{
	struct rusage before, after;
	uint64_t start_ns;
	long results = 0;

	(void)getrusage(RUSAGE_SELF, &before);
	start_ns = raw_clock_ns();
	for (uint32_t i = 0; i < part->slices; i++) {
		uint64_t start = ticks_now(source);

		results |= subject_run(s, part->slice_calls);
		part->ticks[i] = ticks_now(source) - start;
	}
	part->real_ns = raw_clock_ns() - start_ns;
	(void)getrusage(RUSAGE_SELF, &after);
	part->user_us = us(after.ru_utime) - us(before.ru_utime);
	part->sys_us = us(after.ru_stime) - us(before.ru_stime);
	if (subject_failed(s, results))
		return problem_set(p, 0, NULL, "loops: %s: a call failed", s->metric->name);
	return 0;
}

static void print_part(const struct loop *l, const struct run *run, unsigned long number,
		       const struct part *part)
{
	printf("{\"loop\":\"%s\",\"metric\":\"%s\",\"vsyscall64\":", l->name, l->metric);
	if (l->vsyscall64 == UNKNOWN)
		fputs("null", stdout);
	else
		printf("%d", l->vsyscall64);
	if (run->parts > 1)
		printf(",\"part\":%lu,\"parts\":%lu", number, run->parts);
	printf(",\"calls\":%" PRIu64 ",\"real_ns\":%" PRIu64 ",\"user_us\":%" PRIu64
	       ",\"sys_us\":%" PRIu64 ",\"slice_calls\":%u,\"slice_ticks\":[",
	       (uint64_t)part->slice_calls * part->slices, part->real_ns, part->user_us,
	       part->sys_us, part->slice_calls);
	for (uint32_t i = 0; i < part->slices; i++)
		printf("%s%" PRIu64, i ? "," : "", part->ticks[i]);
	puts("]}");
}

/* All parts of these loops, in one process: its CPU time is that of the loops.  Which one begins
 * changes from part to part. */
static int run_loops(const struct loop *const *chosen, size_t n, const struct run *run,
		     struct problem *p)
{
	struct part part = { .slices = (uint32_t)(SLICES / run->parts),
			     .slice_calls = (uint32_t)(run->calls / SLICES) };
	struct subject s[LOOPS];

	for (size_t i = 0; i < n; i++)
		if (subject_open(&s[i], metric_find(chosen[i]->metric), part.slice_calls, p) < 0)
			return -1;
	for (unsigned long number = 0; number < run->parts; number++) {
		for (size_t turn = 0; turn < n; turn++) {
			size_t i = (number + turn) % n;

			if (run_part(&s[i], run->ticks, &part, p) < 0)
				return -1;
			print_part(chosen[i], run, number, &part);
		}
	}
	if (fflush(stdout) != 0) /* nobody else hears of it: this process has its own buffer */
		return problem_set(p, errno, NULL, "cannot write to standard output");
	return 0;
}

static int fork_loops(const struct loop *const *chosen, size_t n, const struct run *run)
{
	struct problem p;
	pid_t child;
	int status;

	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		status = run_loops(chosen, n, run, &p) < 0 ? EXIT_FAILED : 0;
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

static int take_option(struct run *run, int option, const char *value, struct problem *p)
{
	switch (option) {
	case 'c':
		if (request_number(value, CALLS_MAX, &run->calls) == 0 && run->calls >= SLICES)
			return 0;
		return problem_set(p, 0, NULL, "loops: --calls: '%s' is not a number from %d to %d",
				   value, SLICES, CALLS_MAX);
	case 'p':
		if (request_number(value, SLICES, &run->parts) == 0 && run->parts > 0 &&
		    SLICES % run->parts == 0)
			return 0;
		return problem_set(p, 0, NULL, "loops: --parts: '%s' does not divide %d", value,
				   SLICES);
	default:
		return problem_set(p, 0, "timens-bench --help", "loops: bad option");
	}
}

static int read_options(int argc, char **argv, struct run *run, struct problem *p)
{
	static const struct option options[] = {
		{ "calls", required_argument, NULL, 'c' },
		{ "parts", required_argument, NULL, 'p' },
		{ 0 },
	};
	int c, status = 0;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (take_option(run, c, optarg, p) < 0)
			return -1;
	for (int i = optind; i < argc && status == 0; i++)
		status = take_route(run, argv[i], p);
	if (optind == argc)
		memset(run->wanted, true, sizeof run->wanted);
	return status;
}

int command_loops(int argc, char **argv)
{
	struct run run = { .calls = 5000000, .parts = 1, .ticks = ticks_best() };
	const struct loop *chosen[LOOPS];
	struct problem p;
	int status = 0;
	size_t n = 0;

	if (read_options(argc, argv, &run, &p) < 0) {
		problem_print(&p);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < LOOPS; i++)
		if (run.wanted[i])
			chosen[n++] = &loops[i];
	if (run.parts > 1)
		return fork_loops(chosen, n, &run);
	for (size_t i = 0; i < n && status == 0; i++)
		status = fork_loops(&chosen[i], 1, &run);
	return status;
}
