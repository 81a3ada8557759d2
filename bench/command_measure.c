/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate.h"
#include "circumstances.h"
#include "commands.h"
#include "measure.h"
#include "request.h"
#include "table.h"

#define TABLE_CALIBRATION_NS 100000000

static int show_table(struct request *r, const char *text, struct problem *p)
{
	(void)text;
	(void)p;
	r->table = true;
	return 0;
}

static int show_json(struct request *r, const char *text, struct problem *p)
{
	(void)text;
	(void)p;
	r->table = false;
	return 0;
}

static const struct {
	const char *name;
	int has_argument;
	int (*take)(struct request *r, const char *text, struct problem *p);
} options[] = {
	{ "metrics", required_argument, request_metrics },
	{ "calls", required_argument, request_calls },
	{ "batch", required_argument, request_batch },
	{ "cpu", required_argument, request_cpu },
	{ "block", required_argument, request_block },
	{ "repeat", required_argument, request_repeat },
	{ "turns", required_argument, request_turns },
	{ "ticks", required_argument, request_ticks },
	{ "table", no_argument, show_table },
	{ "json", no_argument, show_json },
};

#define OPTIONS (sizeof options / sizeof *options)

static int read_options(int argc, char **argv, struct request *r, struct problem *p)
{
	struct option words[OPTIONS + 1] = { 0 };
	int index, c;

	for (size_t i = 0; i < OPTIONS; i++)
		words[i] = (struct option){ options[i].name, options[i].has_argument, NULL, 0 };
	while ((c = getopt_long(argc, argv, "", words, &index)) != -1) {
		if (c != 0)
			return problem_set(p, 0, "timens-bench --help", "measure: bad option");
		if (options[index].take(r, optarg, p) < 0)
			return -1;
	}
	if (optind < argc)
		return problem_set(p, 0, "timens-bench --help", "measure: '%s' is not an option",
				   argv[optind]);
	if (r->count == 0 && request_metrics(r, "paper", p) < 0)
		return -1;
	return request_check(r, p);
}

static int stay_on_cpu(int cpu, struct problem *p)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		return problem_set(p, errno, "the CPUs that may be used: taskset -p $$",
				   "cannot stay on CPU %d", cpu);
	return 0;
}

static void show(struct record *rec, bool table, double ns_per_tick)
{
	if (table)
		table_print_row(rec, ns_per_tick, stdout);
	else
		record_print(rec, stdout);
	/* A record that is finished must not be lost with the next one. */
	(void)fflush(stdout);
}

/* The place of m in the order; the partner of a pair that was not asked for has none. */
static size_t place(const struct request *r, const struct metric *m)
{
	size_t i = 0;

	while (i < r->count && r->order[i] != m)
		i++;
	return i;
}

static int run_metric(const struct request *r, size_t position, double ns_per_tick,
		      struct problem *p)
{
	struct cell cell = { .metric = r->order[position], .ticks = r->ticks, .turn = r->turn };
	struct record records[2] = { 0 };
	int status;

	if (request_amount(r, cell.metric, &cell.batch, &cell.batch_count, p) < 0)
		return -1;
	status = measure_cell(&cell, records, p);
	for (int i = 0; i < 2; i++) {
		if (status == 0 && records[i].metric && place(r, records[i].metric) < r->count) {
			records[i].position = (uint32_t)position;
			records[i].block = r->block;
			show(&records[i], r->table, ns_per_tick);
		}
		free(records[i].batch_ticks);
	}
	return status;
}

/* True when the metric was measured already, together with its partner. */
static bool is_done(const struct request *r, size_t position)
{
	const struct metric *m = r->order[position];

	return m->partner && place(r, metric_find(m->partner)) < position;
}

static int run(const struct request *r, struct problem *p)
{
	double ns_per_tick = 1;

	if (r->cpu != UNKNOWN && stay_on_cpu(r->cpu, p) < 0)
		return -1;
	if (r->table) {
		ns_per_tick = calibrate_ns_per_tick(r->ticks, TABLE_CALIBRATION_NS);
		table_print_head(stdout);
	}
	for (unsigned long round = 0; round < r->repeat; round++)
		for (size_t i = 0; i < r->count; i++)
			if (!is_done(r, i) && run_metric(r, i, ns_per_tick, p) < 0)
				return -1;
	return 0;
}

int command_measure(int argc, char **argv)
{
	struct request r;
	struct problem p;

	request_init(&r);
	r.table = isatty(STDOUT_FILENO);
	if (read_options(argc, argv, &r, &p) < 0) {
		problem_print(&p);
		return EXIT_USAGE;
	}
	if (run(&r, &p) < 0) {
		problem_print(&p);
		return EXIT_FAILED;
	}
	if (ferror(stdout) || fflush(stdout) != 0) {
		(void)problem_set(&p, errno, NULL, "cannot write the records");
		problem_print(&p);
		return EXIT_FAILED;
	}
	return 0;
}
