/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "subject.h"
#include "turns.h"

#define MULTIPLY_TURNS 500
#define EMPTY_TURNS 20000
#define CANARY_TRIES 3

/* The least of a few: the question is how fast the core is, not whether it is shared. */
static double ticks_per_turn(enum tick_source ticks, void (*loop)(uint64_t n), uint64_t turns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CANARY_TRIES; i++) {
		uint64_t start = ticks_now(ticks), took;

		loop(turns);
		took = ticks_now(ticks) - start;
		if (took < best)
			best = took;
	}
	return (double)best / (double)turns;
}

struct canary measure_canary(enum tick_source ticks)
{
	return (struct canary){
		.multiply = ticks_per_turn(ticks, loop_multiply, MULTIPLY_TURNS),
		.empty = ticks_per_turn(ticks, loop_empty, EMPTY_TURNS),
	};
}

/* At the start of a turn the caches hold what the others needed: a quarter of a batch goes by
 * untimed. */
static int begin_turn(struct subject *s, const struct cell *c, struct problem *p)
{
	const uint32_t n = c->batch / 4 + 1;

	if (turn_wait(p) < 0)
		return -1;
	(void)subject_run(s, n); /* the timed calls say whether they fail */
	if (c->metric->partner)
		(void)subject_undo(s, n);
	return 0;
}

static bool is_turn(const struct cell *c, uint32_t i)
{
	return c->turn != 0 && i % c->turn == 0;
}

static int failed(const struct cell *c, struct problem *p)
{
	return problem_set(p, 0, NULL, "%s: a call failed while it was timed", c->metric->name);
}

static int time_calls(struct subject *s, const struct cell *c, uint64_t *batches, struct problem *p)
{
	long results = 0;

	for (uint32_t i = 0; i < c->batch_count; i++) {
		uint64_t start;

		if (is_turn(c, i) && begin_turn(s, c, p) < 0)
			return -1;
		start = ticks_now(c->ticks);
		results |= subject_run(s, c->batch);
		batches[i] = ticks_now(c->ticks) - start;
	}
	return subject_failed(s, results) ? failed(c, p) : 0;
}

static int time_sleeps(struct subject *s, const struct cell *c, uint64_t *batches,
		       struct problem *p)
{
	long results = 0;

	for (uint32_t i = 0; i < c->batch_count; i++) {
		uint64_t start;

		subject_aim(s);
		start = ticks_now(c->ticks);
		results |= subject_run(s, c->batch);
		batches[i] = ticks_now(c->ticks) - start;
	}
	return subject_failed(s, results) ? failed(c, p) : 0;
}

static int time_pairs(struct subject *s, const struct cell *c, uint64_t *created, uint64_t *deleted,
		      struct problem *p)
{
	long results = 0;

	for (uint32_t i = 0; i < c->batch_count; i++) {
		uint64_t start, between, end;

		if (is_turn(c, i) && begin_turn(s, c, p) < 0)
			return -1;
		start = ticks_now(c->ticks);
		results |= subject_run(s, c->batch);
		between = ticks_now(c->ticks);
		results |= subject_undo(s, c->batch);
		end = ticks_now(c->ticks);
		created[i] = between - start;
		deleted[i] = end - between;
	}
	return subject_failed(s, results) ? failed(c, p) : 0;
}

/* Calls once, so that a refusal is told with its reason, then a batch, untimed. */
static int warm_up(struct subject *s, const struct cell *c, struct problem *p)
{
	const struct metric *m = c->metric;
	long result = subject_run(s, 1);

	if (subject_failed(s, result)) {
		/* After a single call the OR of all results is its result. */
		return problem_set(p, (int)-result, NULL, "%s: the first call", m->name);
	}
	if (m->partner)
		(void)subject_undo(s, 1);
	result = subject_run(s, c->batch);
	if (m->partner)
		result |= subject_undo(s, c->batch);
	if (subject_failed(s, result))
		return problem_set(p, 0, "use a smaller --batch",
				   "%s: not all of %u calls in a row succeed", m->name, c->batch);
	return 0;
}

static int allocate(struct record *r, const struct cell *c, struct problem *p)
{
	r->batch = c->batch;
	r->batch_count = c->batch_count;
	r->turn = c->turn;
	r->batch_ticks = malloc(c->batch_count * sizeof *r->batch_ticks);
	if (!r->batch_ticks)
		return problem_set(p, errno, NULL, "%s: %u batches", c->metric->name,
				   c->batch_count);
	/* Touches every page, so that none is missing while the time runs. */
	memset(r->batch_ticks, 0xff, c->batch_count * sizeof *r->batch_ticks);
	return 0;
}

static int time_metric(struct subject *s, const struct cell *c, struct record r[2],
		       struct problem *p)
{
	const int asked = c->metric->is_second ? 1 : 0;

	if (c->metric->kind == KIND_SLEEP)
		return time_sleeps(s, c, r[0].batch_ticks, p);
	if (c->metric->partner)
		return time_pairs(s, c, r[asked].batch_ticks, r[!asked].batch_ticks, p);
	return time_calls(s, c, r[0].batch_ticks, p);
}

static int measure_open(struct subject *s, const struct cell *c, struct record r[2],
			struct problem *p)
{
	if (c->metric->kind == KIND_CALL && warm_up(s, c, p) < 0)
		return -1;
	circumstances_before(&r[0].before);
	r[0].canary_before = measure_canary(c->ticks);
	if (time_metric(s, c, r, p) < 0)
		return -1;
	r[0].canary_after = measure_canary(c->ticks);
	circumstances_after(&r[0].after);
	r[1].before = r[0].before;
	r[1].after = r[0].after;
	r[1].canary_before = r[0].canary_before;
	r[1].canary_after = r[0].canary_after;
	return 0;
}

int measure_cell(const struct cell *c, struct record r[2], struct problem *p)
{
	struct subject s;
	int status;

	r[0] = (struct record){ .metric = c->metric };
	r[1] = (struct record){ 0 };
	if (allocate(&r[0], c, p) < 0)
		return -1;
	if (c->metric->partner) {
		r[1].metric = metric_find(c->metric->partner);
		if (allocate(&r[1], c, p) < 0)
			return -1;
	}
	/* Pairs are made by the metric that creates. */
	status = subject_open(&s, c->metric->is_second ? r[1].metric : c->metric, c->batch, p);
	if (status == 0)
		status = measure_open(&s, c, r, p);
	subject_close(&s);
	return status;
}
