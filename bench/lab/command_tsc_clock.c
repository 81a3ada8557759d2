/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tsc-clock - what a clock on the processor's counter would save, and what it would be worth
 *
 * Three parts: how well the frequency of the counter can be found, what reading each clock
 * costs, and how far each is from CLOCK_REALTIME as time goes by.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "calibrate.h"
#include "commands.h"
#include "lab/tsc_clock.h"
#include "loops.h"
#include "request.h"
#include "subject.h"

#define TWO_POINTS_NS 500000000
#define TRIES 5
#define BATCH 1000
#define BATCHES 200
#define SAMPLES_MAX 100000
#define CHECK_STEP_US 20 /* pause between two looks at whether a clock steps back */
#define NS_PER_US 1000

struct plan {
	unsigned long reload_us;
	unsigned long seconds;
	unsigned long samples; /* of the error of each clock */
	enum tick_source ticks;
};

static void print_calibrations(const struct plan *plan, double *ret_ns_per_tick)
{
	static const unsigned int waits_us[] = { 10, 100, 500, 1000, 10000, 100000 };

	for (size_t i = 0; i < sizeof waits_us / sizeof *waits_us; i++) {
		printf("{\"tsc_clock\":\"calibration\",\"method\":\"sleep\",\"wait_us\":%u,\"mhz\":"
		       "[",
		       waits_us[i]);
		for (int k = 0; k < TRIES; k++)
			printf("%s%" PRIu64, k ? "," : "",
			       tsc_clock_mhz_by_sleep(plan->ticks, waits_us[i]));
		puts("]}");
	}
	printf("{\"tsc_clock\":\"calibration\",\"method\":\"two_points\",\"wait_us\":%d,\"mhz\":[",
	       TWO_POINTS_NS / NS_PER_US);
	for (int k = 0; k < TRIES; k++) {
		*ret_ns_per_tick = calibrate_ns_per_tick(plan->ticks, TWO_POINTS_NS);
		printf("%s%.6f", k ? "," : "", 1e3 / *ret_ns_per_tick);
	}
	puts("]}");
}

static void print_ticks(const char *name, const uint64_t *batches)
{
	printf("{\"tsc_clock\":\"cost\",\"clock\":\"%s\",\"batch\":%d,\"batch_ticks\":[", name,
	       BATCH);
	for (int i = 0; i < BATCHES; i++)
		printf("%s%" PRIu64, i ? "," : "", batches[i]);
	puts("]}");
}

static void print_cost(const struct plan *plan, const char *name, struct tsc_clock *c)
{
	uint64_t batches[BATCHES];
	struct timeval t;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t start = ticks_now(plan->ticks);

		(void)loop_function((const void *)tsc_clock_gettimeofday, (long)c, (long)&t, BATCH);
		batches[i] = ticks_now(plan->ticks) - start;
	}
	print_ticks(name, batches);
}

/* The kernel's own ways, for comparison. */
static int print_cost_of(const struct plan *plan, const char *metric, struct problem *p)
{
	uint64_t batches[BATCHES];
	struct subject s;

	if (subject_open(&s, metric_find(metric), BATCH, p) < 0)
		return -1;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t start = ticks_now(plan->ticks);

		(void)subject_run(&s, BATCH);
		batches[i] = ticks_now(plan->ticks) - start;
	}
	subject_close(&s);
	print_ticks(metric, batches);
	return 0;
}

static uint64_t realtime_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct sample {
	uint64_t at_ns;   /* since the first */
	int64_t error_ns; /* the clock minus the middle of two readings of CLOCK_REALTIME around it */
	uint64_t width_ns;
};

static struct sample take_sample(struct tsc_clock *c, uint64_t first_ns)
{
	uint64_t before = realtime_ns(), now = tsc_clock_now(c), after = realtime_ns();

	return (struct sample){
		.at_ns = before - first_ns,
		.error_ns = (int64_t)(now - (before + (after - before) / 2)),
		.width_ns = after - before,
	};
}

/* Samples at even distances; between them the clock is read often, to see whether it steps back. */
static int print_error(const struct plan *plan, const char *name, struct tsc_clock *c,
		       struct problem *p)
{
	const struct timespec pause = { .tv_nsec = CHECK_STEP_US * NS_PER_US };
	const uint64_t step_ns = plan->seconds * 1000000000 / plan->samples, first = realtime_ns();
	uint64_t last = 0, backwards = 0, worst = 0, readings = 0;
	struct sample *samples = calloc(plan->samples, sizeof *samples);

	if (!samples)
		return problem_set(p, 0, NULL, "tsc-clock: no memory for %lu samples",
				   plan->samples);
	for (unsigned long i = 0; i < plan->samples; i++) {
		while (realtime_ns() - first < i * step_ns) {
			uint64_t now = tsc_clock_now(c);

			readings++;
			backwards += now < last;
			worst = now < last && last - now > worst ? last - now : worst;
			last = now;
			(void)nanosleep(&pause, NULL);
		}
		samples[i] = take_sample(c, first);
	}
	printf("{\"tsc_clock\":\"error\",\"clock\":\"%s\",\"reload_us\":", name);
	if (c->reload_ns == NEVER)
		fputs("null", stdout);
	else
		printf("%" PRIu64, c->reload_ns / NS_PER_US);
	printf(",\"reloads\":%" PRIu64 ",\"readings\":%" PRIu64 ",\"backwards\":%" PRIu64
	       ",\"worst_backwards_ns\":%" PRIu64 ",\"samples\":[",
	       c->reloads, readings, backwards, worst);
	for (unsigned long i = 0; i < plan->samples; i++)
		printf("%s[%" PRIu64 ",%" PRId64 ",%" PRIu64 "]", i ? "," : "", samples[i].at_ns,
		       samples[i].error_ns, samples[i].width_ns);
	puts("]}");
	free(samples);
	return 0;
}

static int run(const struct plan *plan, struct problem *p)
{
	const uint64_t reload_ns = plan->reload_us * NS_PER_US;
	double ns_per_tick;

	print_calibrations(plan, &ns_per_tick);

	/* The best whole number that there is: its faults are then those of the method. */
	const uint64_t mhz = (uint64_t)(1e3 / ns_per_tick);
	struct {
		const char *name;
		struct tsc_clock clock;
	} clocks[] = {
		{ "whole_mhz", tsc_clock_whole_mhz(plan->ticks, mhz, reload_ns) },
		{ "exact", tsc_clock_exact(plan->ticks, ns_per_tick, reload_ns) },
		{ "exact_never_reloaded", tsc_clock_exact(plan->ticks, ns_per_tick, NEVER) },
	};

	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		print_cost(plan, clocks[i].name, &clocks[i].clock);
	if (print_cost_of(plan, "vdso_gettimeofday", p) < 0 ||
	    print_cost_of(plan, "gettimeofday", p) < 0)
		return -1;
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (print_error(plan, clocks[i].name, &clocks[i].clock, p) < 0)
			return -1;
	return 0;
}

static int take_number(const char *option, const char *text, unsigned long max,
		       unsigned long *number, struct problem *p)
{
	if (request_number(text, max, number) < 0 || *number == 0)
		return problem_set(p, 0, NULL,
				   "tsc-clock: --%s: '%s' is not a number from 1 to %lu", option,
				   text, max);
	return 0;
}

static int read_options(int argc, char **argv, struct plan *plan, struct problem *p)
{
	const struct {
		unsigned long *number;
		unsigned long max;
	} numbers[] = {
		{ &plan->reload_us, 1000000000 },
		{ &plan->seconds, 3600 },
		{ &plan->samples, SAMPLES_MAX },
	};
	static const struct option options[] = {
		{ "reload-us", required_argument, NULL, 0 },
		{ "seconds", required_argument, NULL, 0 },
		{ "samples", required_argument, NULL, 0 },
		{ 0 },
	};
	int c, i;

	while ((c = getopt_long(argc, argv, "", options, &i)) != -1) {
		if (c != 0)
			return problem_set(p, 0, "timens-bench --help", "tsc-clock: bad option");
		if (take_number(options[i].name, optarg, numbers[i].max, numbers[i].number, p) < 0)
			return -1;
	}
	if (optind < argc)
		return problem_set(p, 0, "timens-bench --help", "tsc-clock: '%s' is not an option",
				   argv[optind]);
	return 0;
}

int command_tsc_clock(int argc, char **argv)
{
	struct plan plan = {
		.reload_us = 1000, .seconds = 5, .samples = 500, .ticks = ticks_best()
	};
	struct problem p;

	if (read_options(argc, argv, &plan, &p) < 0) {
		problem_print(&p);
		return EXIT_USAGE;
	}
	if (plan.ticks == TICKS_CLOCK_MONOTONIC_RAW) {
		(void)problem_set(&p, 0, NULL, "tsc-clock: user space may not read a counter here");
		problem_print(&p);
		return EXIT_FAILED;
	}
	if (run(&plan, &p) < 0) {
		problem_print(&p);
		return EXIT_FAILED;
	}
	return 0;
}
