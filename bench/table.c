/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double table_median(struct record *r)
{
	const uint64_t *ticks = r->batch_ticks;

	qsort(r->batch_ticks, r->batch_count, sizeof *r->batch_ticks, compare);
	return ((double)ticks[(r->batch_count - 1) / 2] + (double)ticks[r->batch_count / 2]) / 2;
}

void table_print_head(FILE *out)
{
	fprintf(out, "%-36s %-5s %12s %12s %12s %9s  %s\n", "metric", "route", "median ns",
		"p10 ns", "mean ns", "calls", "");
}

void table_print_row(struct record *r, double ns_per_tick, FILE *out)
{
	const bool sleeps = r->metric->kind == KIND_SLEEP;
	const double requested_ns = sleeps ? SLEEP_NS : 0;
	const double scale = ns_per_tick / r->batch;
	double total = 0, median = table_median(r);

	for (uint32_t i = 0; i < r->batch_count; i++)
		total += (double)r->batch_ticks[i];
	fprintf(out, "%-36s %-5s %12.2f %12.2f %12.2f %9" PRIu64 "  ", r->metric->name,
		route_name(r->metric->route), median * scale - requested_ns,
		(double)r->batch_ticks[r->batch_count / 10] * scale - requested_ns,
		total / r->batch_count * scale - requested_ns, (uint64_t)r->batch * r->batch_count);
	if (sleeps)
		fputs("beyond 100 ms ", out);
	record_print_flags(record_flags(r), "", out);
	fputc('\n', out);
}
