/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clocks/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/output.h"
#include "clocks/probes.h"
#include "clocks/show.h"
#include "engine/visit.h"
#include "model/clock_offset.h"

/* A wait that is later than this missed its deadline; the offsets that matter are much larger. */
enum { PATIENCE_S = 1 };

enum verdict { AGREES, KNOWN, DISAGREES, NOT_HERE, VERDICTS };
static const char *const verdict_words[] = { "agrees", "known", "DISAGREES", "not here" };

struct finding {
	enum verdict verdict;
	char detail[160];
};

/* What a visit carries in and out. */
struct errand {
	const struct probe *probe;
	struct probe_result result;
	struct own_offsets offsets;
	struct err failure;
};

static void run_probe(void *result)
{
	struct errand *errand = result;

	errand->probe->run(errand->probe->clock, &errand->result);
}

static void ask_offsets(void *result)
{
	struct errand *errand = result;

	(void)clocks_own_offsets(&errand->offsets, &errand->failure);
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static struct finding judge_wait(const struct probe_result *r, bool timed_out)
{
	struct finding f = { .verdict = DISAGREES };

	if (timed_out)
		(void)snprintf(f.detail, sizeof f.detail, "still waited after %d s", PATIENCE_S);
	else if (r->low_ns < 0)
		(void)snprintf(f.detail, sizeof f.detail, "woke %.3f ms before its deadline",
			       ms(-r->low_ns));
	else
		f.verdict = AGREES;
	if (f.verdict == AGREES)
		(void)snprintf(f.detail, sizeof f.detail, "woke %.3f ms after its deadline",
			       ms(r->low_ns));
	return f;
}

/* The reading must lie between our two, both moved by the shift: no tolerance is needed. */
static struct finding judge_reading(const struct probe_result *r, int64_t low_ns, int64_t high_ns)
{
	struct finding f = { .verdict = AGREES };

	if (r->high_ns < low_ns)
		(void)snprintf(f.detail, sizeof f.detail, "%.3f ms behind",
			       ms(low_ns - r->high_ns));
	else if (r->low_ns > high_ns)
		(void)snprintf(f.detail, sizeof f.detail, "%.3f ms ahead", ms(r->low_ns - high_ns));
	else
		(void)snprintf(f.detail, sizeof f.detail, "between two readings %.3f ms apart",
			       ms(high_ns - low_ns));
	if (r->high_ns < low_ns || r->low_ns > high_ns)
		f.verdict = DISAGREES;
	return f;
}

static int examine(pid_t pid, const struct probe *probe, int64_t shift_ns, struct finding *ret,
		   struct err *e)
{
	struct errand errand = { .probe = probe };
	bool timed_out;
	int64_t before, after;
	int r;

	before = clock_now_ns(probe->clock) + shift_ns;
	r = visit(pid, run_probe, &errand, sizeof errand, PATIENCE_S, &timed_out, e);
	after = clock_now_ns(probe->clock) + shift_ns;
	if (r < 0)
		return r;
	if (errand.result.error != 0) {
		ret->verdict = NOT_HERE;
		(void)snprintf(ret->detail, sizeof ret->detail, "%s",
			       strerror(errand.result.error));
		return 0;
	}
	*ret = probe->waits || timed_out ? judge_wait(&errand.result, timed_out)
					 : judge_reading(&errand.result, before, after);
	if (ret->verdict == DISAGREES && probe->known != NULL)
		ret->verdict = KNOWN;
	return 0;
}

static void print_finding(const struct probe *probe, const struct finding *f, bool json, bool first)
{
	const char *why = f->verdict == KNOWN ? probe->known : "";

	if (json)
		printf("%s{\"check\": \"%s\", \"verdict\": \"%s\", \"detail\": \"%s\", \"known\": "
		       "\"%s\"}",
		       first ? "" : ", ", probe->name,
		       f->verdict == DISAGREES ? "disagrees" : verdict_words[f->verdict], f->detail,
		       why);
	else
		printf("%-10s %-50s %s%s%s\n", verdict_words[f->verdict], probe->name, f->detail,
		       *why != '\0' ? ": " : "", why);
}

/* How far the clocks of `pid` are ahead of ours. */
static int find_shifts(pid_t pid, struct own_offsets *ret_shifts, struct err *e)
{
	struct errand errand = { 0 };
	struct own_offsets own;
	bool timed_out;
	int r = clocks_own_offsets(&own, e);

	if (r == 0)
		r = visit(pid, ask_offsets, &errand, sizeof errand, 10, &timed_out, e);
	if (r == 0 && errand.failure.code != 0) {
		*e = errand.failure;
		r = -e->code;
	}
	ret_shifts->monotonic_ns = errand.offsets.monotonic_ns - own.monotonic_ns;
	ret_shifts->boottime_ns = errand.offsets.boottime_ns - own.boottime_ns;
	return r;
}

static void print_head(pid_t pid, const struct own_offsets *shifts, bool json)
{
	char monotonic[CLOCK_OFFSET_TEXT], boottime[CLOCK_OFFSET_TEXT];

	clock_offset_format(clock_offset_from_ns(shifts->monotonic_ns), monotonic);
	clock_offset_format(clock_offset_from_ns(shifts->boottime_ns), boottime);
	if (json)
		printf("{\"monotonic_shift_ns\": %lld, \"boottime_shift_ns\": %lld, \"checks\": [",
		       shifts->monotonic_ns, shifts->boottime_ns);
	else if (pid != 0)
		printf("process %d against the clocks here: monotonic %s s, boottime %s s\n", pid,
		       monotonic, boottime);
	else
		puts("the clocks of this time namespace against one another");
}

int clocks_verify(pid_t pid, bool json, struct err *e)
{
	int count[VERDICTS] = { 0 }, r;
	struct own_offsets shifts = { 0 };
	const struct probe *probes;
	size_t probe_count;

	probes = clocks_probes(&probe_count);
	r = find_shifts(pid, &shifts, e);
	if (r < 0)
		return r;
	print_head(pid, &shifts, json);
	for (size_t i = 0; i < probe_count; i++) {
		bool boottime = probes[i].clock == CLOCK_BOOTTIME;
		struct finding f;

		r = examine(pid, &probes[i], boottime ? shifts.boottime_ns : shifts.monotonic_ns,
			    &f, e);
		if (r < 0)
			return r;
		count[f.verdict]++;
		print_finding(&probes[i], &f, json, i == 0);
		r = output_finish(e);
		if (r < 0)
			return r;
	}
	if (json)
		printf("], \"disagree\": %d}\n", count[DISAGREES]);
	else
		printf("%d agree, %d known not to, %d not to be tried here, %d disagree\n",
		       count[AGREES], count[KNOWN], count[NOT_HERE], count[DISAGREES]);
	return count[DISAGREES];
}
