/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record.h"

#include <inttypes.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool is_preempted(const struct record *r)
{
	const struct circumstances *a = &r->before, *b = &r->after;

	/* A sleep waits for the CPU when it wakes: that is part of what it measures. */
	if (r->metric->kind == KIND_SLEEP)
		return false;
	/* Who takes turns also waits for a CPU at the start of each, untimed. */
	if (r->turn)
		return b->involuntary_switches - a->involuntary_switches > r->batch_count / 5;
	return a->run_delay_ns != UNKNOWN && b->run_delay_ns != UNKNOWN &&
	       (double)(b->run_delay_ns - a->run_delay_ns) >
		       0.2 * (double)(b->wall_ns - a->wall_ns);
}

unsigned int record_flags(const struct record *r)
{
	const struct circumstances *a = &r->before, *b = &r->after;
	const double moved = r->canary_after.multiply / r->canary_before.multiply;
	unsigned int flags = 0;

	if (is_preempted(r))
		flags |= FLAG_PREEMPTED;
	if (a->steal_ticks != UNKNOWN && b->steal_ticks > a->steal_ticks)
		flags |= FLAG_STEAL;
	if (a->cpu != b->cpu)
		flags |= FLAG_MIGRATED;
	if (moved < 0.99 || moved > 1.01)
		flags |= FLAG_FREQUENCY;
	return flags;
}

void record_print_flags(unsigned int flags, const char *quote, FILE *out)
{
	static const char *const names[] = { "preempted", "steal", "migrated", "frequency" };
	const char *comma = "";

	for (unsigned int i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(flags & 1u << i))
			continue;
		fprintf(out, "%s%s%s%s", comma, quote, names[i], quote);
		comma = ",";
	}
}

static void print_difference(FILE *out, const char *key, int64_t before, int64_t after)
{
	if (before != UNKNOWN && after != UNKNOWN)
		fprintf(out, ",\"%s\":%" PRId64, key, after - before);
}

void record_print(const struct record *r, FILE *out)
{
	const struct circumstances *a = &r->before, *b = &r->after;
	uint64_t total = 0;

	for (uint32_t i = 0; i < r->batch_count; i++)
		total += r->batch_ticks[i];
	fprintf(out, "{\"metric\":\"%s\",\"route\":\"%s\"", r->metric->name,
		route_name(r->metric->route));
	if (r->block != UNKNOWN)
		fprintf(out, ",\"block\":%ld", r->block);
	fprintf(out, ",\"position\":%u,\"pid\":%d", r->position, (int)getpid());
	fprintf(out, ",\"cpu_start\":%d,\"cpu_end\":%d", a->cpu, b->cpu);
	fprintf(out, ",\"wall_start_s\":%.6f", a->wall_s);
	fprintf(out, ",\"calls\":%" PRIu64 ",\"batch\":%u", (uint64_t)r->batch * r->batch_count,
		r->batch);
	fprintf(out, ",\"total_ticks\":%" PRIu64 ",\"batch_ticks\":[", total);
	for (uint32_t i = 0; i < r->batch_count; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", r->batch_ticks[i]);
	fputc(']', out);
	if (r->turn)
		fprintf(out, ",\"batches_per_turn\":%u", r->turn);
	if (r->metric->kind == KIND_SLEEP)
		fprintf(out, ",\"requested_ns\":%d,\"timerslack_ns\":%d", SLEEP_NS,
			prctl(PR_GET_TIMERSLACK));
	print_difference(out, "voluntary_switches", a->voluntary_switches, b->voluntary_switches);
	print_difference(out, "involuntary_switches", a->involuntary_switches,
			 b->involuntary_switches);
	print_difference(out, "minor_faults", a->minor_faults, b->minor_faults);
	print_difference(out, "run_delay_ns", a->run_delay_ns, b->run_delay_ns);
	print_difference(out, "steal_ticks", a->steal_ticks, b->steal_ticks);
	print_difference(out, "cpu_time_ns", a->cpu_time_ns, b->cpu_time_ns);
	fprintf(out, ",\"canary_ticks_per_call\":%.6f,\"empty_ticks_per_call\":%.6f",
		(r->canary_before.multiply + r->canary_after.multiply) / 2,
		(r->canary_before.empty + r->canary_after.empty) / 2);
	fputs(",\"flags\":[", out);
	record_print_flags(record_flags(r), "\"", out);
	fputs("]}\n", out);
}
