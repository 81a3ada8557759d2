/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "commands.h"
#include "measure.h"
#include "request.h"
#include "table.h"

#define APART_NS 500000000

/* How long one batch should take: so long that two readings of the counter are a thousandth of
 * it, so short that most batches are over before somebody else gets the CPU. */
#define BATCH_NS 40000
#define SLOW_BATCH_NS 1000000 /* when the counter is a system call */

#define RECORD_MS_MAX 60000
#define TRIAL_BATCHES 21

struct wish {
	struct request metrics;
	unsigned long record_ms;
};

/* The greatest of 1, 2 and 5 times a power of ten that is not above n. */
static uint32_t round_down(double n)
{
	uint32_t power = 1;

	while ((double)power * 10 <= n)
		power *= 10;
	return power * (n >= 5 * (double)power ? 5 : n >= 2 * (double)power ? 2 : 1);
}

static int print_metric(const struct wish *w, const struct metric *m, double ns_per_tick,
			struct problem *p)
{
	const bool slow = w->metrics.ticks == TICKS_CLOCK_MONOTONIC_RAW;
	struct cell cell = { .metric = m,
			     .batch = m->batch,
			     .batch_count = TRIAL_BATCHES,
			     .ticks = w->metrics.ticks };
	struct record records[2];
	uint32_t batch = m->batch;
	double ns, calls;
	int status;

	if (m->kind == KIND_SLEEP) {
		printf("{\"name\":\"%s\",\"ns_per_call\":%d,\"batch\":1,\"calls\":%u}", m->name,
		       SLEEP_NS, m->calls);
		return 0;
	}
	status = measure_cell(&cell, records, p);
	ns = status == 0 ? table_median(&records[0]) * ns_per_tick / m->batch : 1;
	free(records[0].batch_ticks);
	free(records[1].batch_ticks);
	if (status < 0)
		return -1;
	/* Pairs keep the batch of the table: the cost of one depends on how many are alive. */
	if (!m->partner)
		batch = round_down((slow ? SLOW_BATCH_NS : BATCH_NS) / ns);
	calls = (double)w->record_ms * 1e6 / ns;
	printf("{\"name\":\"%s\",\"ns_per_call\":%.3f,\"batch\":%u,\"calls\":%" PRIu64 "}", m->name,
	       ns, batch, ((uint64_t)(calls / batch) + 1) * batch);
	return 0;
}

static int print_metrics(const struct wish *w, double ns_per_tick, struct problem *p)
{
	for (size_t i = 0; i < w->metrics.count; i++) {
		fputs(i ? ",\n  " : ",\"metrics\":[\n  ", stdout);
		if (print_metric(w, w->metrics.order[i], ns_per_tick, p) < 0)
			return -1;
	}
	if (w->metrics.count)
		putchar(']');
	return 0;
}

static int read_options(int argc, char **argv, struct wish *w, struct problem *p)
{
	static const struct option options[] = {
		{ "metrics", required_argument, NULL, 'm' },
		{ "record-ms", required_argument, NULL, 'r' },
		{ "ticks", required_argument, NULL, 't' },
		{ 0 },
	};
	int c, status = 0;

	while (status == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			status = request_metrics(&w->metrics, optarg, p);
		else if (c == 't')
			status = request_ticks(&w->metrics, optarg, p);
		else if (c != 'r')
			return problem_set(p, 0, "timens-bench --help", "calibrate: bad option");
		else if (request_number(optarg, RECORD_MS_MAX, &w->record_ms) < 0 || !w->record_ms)
			return problem_set(p, 0, NULL,
					   "--record-ms: '%s' is not a number from 1 to %d", optarg,
					   RECORD_MS_MAX);
	}
	if (status == 0 && optind < argc)
		return problem_set(p, 0, "timens-bench --help", "calibrate: '%s' is not an option",
				   argv[optind]);
	return status;
}

int command_calibrate(int argc, char **argv)
{
	struct wish w = { .record_ms = 4 };
	struct problem p;
	double ns_per_tick;

	request_init(&w.metrics);
	if (read_options(argc, argv, &w, &p) < 0) {
		problem_print(&p);
		return EXIT_USAGE;
	}
	ns_per_tick = calibrate_ns_per_tick(w.metrics.ticks, APART_NS);
	printf("{\"ns_per_tick\":%.12f,\"clock_source_of_ticks\":\"%s\",\"tick_granularity\":"
	       "%" PRIu64 ",\"canary_ticks_per_call\":%.6f",
	       ns_per_tick, ticks_name(w.metrics.ticks), calibrate_granularity(w.metrics.ticks),
	       measure_canary(w.metrics.ticks).multiply);
	if (print_metrics(&w, ns_per_tick, &p) < 0) {
		problem_print(&p);
		return EXIT_FAILED;
	}
	puts("}");
	return 0;
}
