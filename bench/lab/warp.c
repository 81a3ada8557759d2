/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * warp - do clocks go backwards from one CPU to another?
 *
 * One thread per CPU.  Each looks at the latest reading of all, then reads the clock itself: a
 * clock that is one clock does not show less.  The counter is also read without any order
 * ("counter_unordered"): then the processor may read it before it has looked at the other's, and
 * what looks like a warp is an artefact of the test.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "commands.h"
#include "request.h"
#include "vdso.h"

#define THREADS_MAX 64
#define MS_MAX 600000
#define LOOK_EVERY 256 /* readings */

struct warp_clock {
	const char *name;
	const char *unit;
	uint64_t (*read)(const struct warp_clock *c);
	const char *symbol; /* in the vDSO */
	clockid_t clock;
	const void *function;
	enum tick_source ticks;
};

static uint64_t read_unordered(const struct warp_clock *c)
{
	return ticks_unordered(c->ticks);
}

static uint64_t read_ordered(const struct warp_clock *c)
{
	return ticks_now(c->ticks);
}

static uint64_t ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t read_system_call(const struct warp_clock *c)
{
	struct timespec t = { 0 };

	(void)syscall(SYS_clock_gettime, c->clock, &t);
	return ns(t);
}

static uint64_t read_vdso(const struct warp_clock *c)
{
	int (*gettime)(clockid_t clock, struct timespec * t) = c->function;
	struct timespec t = { 0 };

	(void)gettime(c->clock, &t);
	return ns(t);
}

static uint64_t read_time_of_day(const struct warp_clock *c)
{
	int (*gettimeofday)(struct timeval * t, void *zone) = c->function;
	struct timeval t = { 0 };

	(void)gettimeofday(&t, NULL);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static const struct warp_clock clocks[] = {
	{ .name = "counter_unordered", .unit = "ticks", .read = read_unordered },
	{ .name = "counter", .unit = "ticks", .read = read_ordered },
	{ "vdso_monotonic", "ns", read_vdso, VDSO("clock_gettime"), CLOCK_MONOTONIC, NULL, 0 },
	{ "vdso_monotonic_raw", "ns", read_vdso, VDSO("clock_gettime"), CLOCK_MONOTONIC_RAW, NULL,
	  0 },
	{ "vdso_monotonic_coarse", "ns", read_vdso, VDSO("clock_gettime"), CLOCK_MONOTONIC_COARSE,
	  NULL, 0 },
	{ "vdso_boottime", "ns", read_vdso, VDSO("clock_gettime"), CLOCK_BOOTTIME, NULL, 0 },
	{ "vdso_realtime", "ns", read_vdso, VDSO("clock_gettime"), CLOCK_REALTIME, NULL, 0 },
	{ "vdso_gettimeofday", "us", read_time_of_day, VDSO("gettimeofday"), 0, NULL, 0 },
	{ "monotonic", "ns", read_system_call, NULL, CLOCK_MONOTONIC, NULL, 0 },
	{ "realtime", "ns", read_system_call, NULL, CLOCK_REALTIME, NULL, 0 },
};

/* What the threads share.  No lock: whoever holds one keeps it, and no CPU meets another's. */
struct warp {
	const struct warp_clock *clock;
	_Alignas(64) _Atomic uint64_t latest;
	_Alignas(64) uint64_t end_ns; /* CLOCK_MONOTONIC_RAW */
};

struct thread {
	_Alignas(64) struct warp *warp;
	int cpu;
	pthread_t id;
	uint64_t reads;
	uint64_t handovers; /* readings that were compared with another CPU's */
	uint64_t warps;
	uint64_t worst;
};

static void *run_thread(void *argument)
{
	struct thread *t = argument;
	struct warp *w = t->warp;
	uint64_t own = 0;

	/* Each looks for the end itself: under a real-time policy nobody else may get a CPU to tell. */
	while (t->reads % LOOK_EVERY != 0 || raw_clock_ns() < w->end_ns) {
		uint64_t latest = atomic_load_explicit(&w->latest, memory_order_acquire);
		uint64_t now = w->clock->read(w->clock);

		t->reads++;
		t->handovers += latest != own;
		if (now < latest) {
			t->warps++;
			if (latest - now > t->worst)
				t->worst = latest - now;
		} else if (atomic_compare_exchange_strong(&w->latest, &latest, now)) {
			own = now;
		}
		cpu_pause(); /* or the CPU that has the line keeps it */
	}
	return NULL;
}

static int start_thread(struct thread *t, struct problem *p)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int code;

	CPU_ZERO(&set);
	CPU_SET((size_t)t->cpu, &set);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
	code = pthread_create(&t->id, &attributes, run_thread, t);
	(void)pthread_attr_destroy(&attributes);
	if (code)
		return problem_set(p, code, NULL, "warp: cannot start a thread on CPU %d", t->cpu);
	return 0;
}

/* The CPUs that we may use, at most THREADS_MAX.  Returns their number. */
static int find_cpus(struct thread *threads)
{
	cpu_set_t set;
	int count = 0;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < THREADS_MAX; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		threads[count++] = (struct thread){ .cpu = cpu };
	}
	return count;
}

static void print(const struct warp_clock *clock, const struct thread *threads, int count,
		  unsigned long ms)
{
	struct thread sum = { 0 };

	printf("{\"warp\":\"%s\",\"cpus\":[", clock->name);
	for (int i = 0; i < count; i++) {
		const struct thread *t = &threads[i];

		printf("%s%d", i ? "," : "", t->cpu);
		sum.reads += t->reads;
		sum.handovers += t->handovers;
		sum.warps += t->warps;
		sum.worst = t->worst > sum.worst ? t->worst : sum.worst;
	}
	printf("],\"ms\":%lu,\"reads\":%" PRIu64 ",\"handovers\":%" PRIu64 ",\"warps\":%" PRIu64
	       ",\"worst\":%" PRIu64 ",\"unit\":\"%s\"}\n",
	       ms, sum.reads, sum.handovers, sum.warps, sum.worst, clock->unit);
	(void)fflush(stdout);
}

static int run_clock(const struct warp_clock *clock, struct thread *threads, int count,
		     unsigned long ms, struct problem *p)
{
	struct warp w = { .clock = clock, .end_ns = raw_clock_ns() + ms * 1000000 };
	int started = 0, status = 0;

	while (started < count && status == 0) {
		threads[started] = (struct thread){ .warp = &w, .cpu = threads[started].cpu };
		status = start_thread(&threads[started], p);
		started += status == 0;
	}
	for (int i = 0; i < started; i++)
		(void)pthread_join(threads[i].id, NULL);
	if (status == 0)
		print(clock, threads, count, ms);
	return status;
}

static int run(unsigned long ms, struct problem *p)
{
	struct thread threads[THREADS_MAX];
	const int count = find_cpus(threads);

	if (count < 2)
		return problem_set(p, 0, "let it run on two or more: taskset -p $$",
				   "warp: only one CPU may be used, there is nothing to compare");
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		struct warp_clock clock = clocks[i];

		clock.ticks = ticks_best();
		clock.function = vdso_function(clock.symbol);
		if (clock.symbol && !clock.function)
			continue; /* a kernel without this function: there is no such clock */
		if (run_clock(&clock, threads, count, ms, p) < 0)
			return -1;
	}
	return 0;
}

int command_warp(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ms", required_argument, NULL, 'm' },
		{ 0 },
	};
	unsigned long ms = 1000;
	struct problem p;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'm')
			return EXIT_USAGE; /* getopt has said why */
		if (request_number(optarg, MS_MAX, &ms) < 0 || ms == 0)
			return command_usage("warp", "--ms is a number from 1 to 600000", optarg);
	}
	if (optind < argc)
		return command_usage("warp", "not an option", argv[optind]);
	if (run(ms, &p) < 0) {
		problem_print(&p);
		return EXIT_FAILED;
	}
	return 0;
}
