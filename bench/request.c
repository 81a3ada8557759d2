/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "request.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circumstances.h"

/* Each is kept and printed: a million take 8 MB of memory and of output. */
#define BATCHES_MAX 1000000

/* So many calls take from seconds to a quarter of an hour; more is a typing error. */
#define CALLS_MAX 1000000000
#define BATCH_MAX 10000000

static const char list_hint[] = "timens-bench list names them all";

void request_init(struct request *r)
{
	*r = (struct request){
		.cpu = UNKNOWN, .block = UNKNOWN, .repeat = 1, .ticks = ticks_best()
	};
}

int request_number(const char *text, unsigned long max, unsigned long *ret_number)
{
	unsigned long n;

	if (*text == '\0' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 12)
		return -1;
	n = strtoul(text, NULL, 10);
	if (n > max)
		return -1;
	*ret_number = n;
	return 0;
}

static int add_metric(struct request *r, const struct metric *m, struct problem *p)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->order[i] == m)
			return problem_set(p, 0, NULL, "--metrics: %s is named twice", m->name);
	r->order[r->count++] = m;
	return 0;
}

/* A set takes what this kernel has; a metric that is asked for by name must work. */
static int add_set(struct request *r, bool all, struct problem *p)
{
	for (size_t i = 0; i < metrics_count; i++) {
		if (!all && !metrics[i].paper)
			continue;
		if (!metric_available(&metrics[i]))
			fprintf(stderr,
				"timens-bench: %s: left out: the kernel maps no vDSO with %s\n",
				metrics[i].name, metrics[i].symbol);
		else if (add_metric(r, &metrics[i], p) < 0)
			return -1;
	}
	return 0;
}

static int add_word(struct request *r, const char *word, struct problem *p)
{
	const struct metric *m = metric_find(word);

	if (strcmp(word, "paper") == 0 || strcmp(word, "all") == 0)
		return add_set(r, strcmp(word, "all") == 0, p);
	if (!m)
		return problem_set(p, 0, list_hint, "--metrics: '%s' is not a metric", word);
	return add_metric(r, m, p);
}

/* Calls fn for each word between commas. */
static int each_word(struct request *r, const char *text, struct problem *p,
		     int (*fn)(struct request *r, const char *word, struct problem *p))
{
	char word[128];

	for (;;) {
		size_t n = strcspn(text, ",");

		if (n >= sizeof word)
			return problem_set(p, 0, list_hint, "'%.40s...' is too long", text);
		memcpy(word, text, n);
		word[n] = '\0';
		if (fn(r, word, p) < 0)
			return -1;
		if (text[n] == '\0')
			return 0;
		text += n + 1;
	}
}

int request_metrics(struct request *r, const char *text, struct problem *p)
{
	r->count = 0;
	return each_word(r, text, p, add_word);
}

/* Splits NAME=N. */
static int read_amount(const char *option, const char *word, unsigned long max,
		       const struct metric **ret_metric, uint32_t *ret_number, struct problem *p)
{
	const char *equals = strchr(word, '=');
	char name[128];
	unsigned long n;

	if (!equals)
		return problem_set(p, 0, NULL, "%s: '%s' is not NAME=N", option, word);
	(void)snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
	*ret_metric = metric_find(name);
	if (!*ret_metric)
		return problem_set(p, 0, list_hint, "%s: '%s' is not a metric", option, name);
	if (request_number(equals + 1, max, &n) < 0 || n == 0)
		return problem_set(p, 0, NULL, "%s: '%s' is not a number from 1 to %lu", option,
				   equals + 1, max);
	*ret_number = (uint32_t)n;
	return 0;
}

static int set_calls(struct request *r, const char *word, struct problem *p)
{
	const struct metric *m;
	uint32_t n;

	if (read_amount("--calls", word, CALLS_MAX, &m, &n, p) < 0)
		return -1;
	r->amounts[metric_index(m)].calls = n;
	return 0;
}

static int set_batch(struct request *r, const char *word, struct problem *p)
{
	const struct metric *m;
	uint32_t n;

	if (read_amount("--batch", word, BATCH_MAX, &m, &n, p) < 0)
		return -1;
	if (m->kind == KIND_SLEEP && n != 1)
		return problem_set(p, 0, NULL, "--batch: %s: every sleep is kept on its own",
				   m->name);
	r->amounts[metric_index(m)].batch = n;
	return 0;
}

int request_calls(struct request *r, const char *text, struct problem *p)
{
	return each_word(r, text, p, set_calls);
}

int request_batch(struct request *r, const char *text, struct problem *p)
{
	return each_word(r, text, p, set_batch);
}

int request_cpu(struct request *r, const char *text, struct problem *p)
{
	unsigned long n;

	if (request_number(text, CPU_SETSIZE - 1, &n) < 0)
		return problem_set(p, 0, NULL, "--cpu: '%s' is not the number of a CPU", text);
	r->cpu = (int)n;
	return 0;
}

int request_block(struct request *r, const char *text, struct problem *p)
{
	unsigned long n;

	if (request_number(text, 1000000000, &n) < 0)
		return problem_set(p, 0, NULL, "--block: '%s' is not the number of a block", text);
	r->block = (long)n;
	return 0;
}

int request_repeat(struct request *r, const char *text, struct problem *p)
{
	unsigned long n;

	if (request_number(text, 1000000, &n) < 0 || n == 0)
		return problem_set(p, 0, NULL, "--repeat: '%s' is not a number of rounds", text);
	r->repeat = n;
	return 0;
}

int request_turns(struct request *r, const char *text, struct problem *p)
{
	unsigned long n;

	if (request_number(text, BATCH_MAX, &n) < 0 || n == 0)
		return problem_set(p, 0, NULL, "--turns: '%s' is not a number of batches", text);
	r->turn = (uint32_t)n;
	return 0;
}

int request_ticks(struct request *r, const char *text, struct problem *p)
{
	for (enum tick_source s = 0; s < TICKS_SOURCES; s++) {
		if (strcmp(text, ticks_name(s)) != 0)
			continue;
		if (!ticks_work(s))
			return problem_set(p, 0, NULL, "--ticks: %s does not work here", text);
		r->ticks = s;
		return 0;
	}
	return problem_set(p, 0, "rdtscp, cntvct or clock_monotonic_raw",
			   "--ticks: '%s' is not a counter", text);
}

static int agree(uint32_t own, uint32_t partners, uint32_t otherwise, uint32_t *ret_amount)
{
	if (own && partners && own != partners)
		return -1;
	*ret_amount = own ? own : partners ? partners : otherwise;
	return 0;
}

/* Reading the clock by system call costs as much as what it times: where nothing was asked for,
 * batches take 1 ms or more, and there are ten of them.  Pairs cannot grow: see metrics.c. */
static void lengthen(const struct metric *m, bool batch_given, bool calls_given, uint32_t *batch,
		     uint32_t *calls)
{
	if (m->kind == KIND_SLEEP || m->partner)
		return;
	if (!batch_given)
		*batch *= 50;
	if (!calls_given && *calls < 10 * *batch)
		*calls = 10 * *batch;
}

int request_amount(const struct request *r, const struct metric *m, uint32_t *ret_batch,
		   uint32_t *ret_batch_count, struct problem *p)
{
	const struct amount none = { 0 };
	const struct amount *own = &r->amounts[metric_index(m)], *partners = &none;
	uint32_t batch, calls;

	if (m->partner)
		partners = &r->amounts[metric_index(metric_find(m->partner))];
	if (agree(own->batch, partners->batch, m->batch, &batch) < 0 ||
	    agree(own->calls, partners->calls, m->calls, &calls) < 0)
		return problem_set(p, 0, "give the number for one of the two, or the same for both",
				   "%s and %s are timed from the same pairs", m->name, m->partner);
	if (r->ticks == TICKS_CLOCK_MONOTONIC_RAW)
		lengthen(m, own->batch | partners->batch, own->calls | partners->calls, &batch,
			 &calls);
	if ((calls - 1) / batch >= BATCHES_MAX)
		return problem_set(p, 0, "use a larger --batch", "%s: more than %d batches",
				   m->name, BATCHES_MAX);
	*ret_batch = batch;
	*ret_batch_count = (calls - 1) / batch + 1;
	return 0;
}

int request_check(const struct request *r, struct problem *p)
{
	uint32_t batch, batch_count;

	for (size_t i = 0; i < r->count; i++) {
		const struct metric *m = r->order[i];

		if (r->turn && m->kind == KIND_SLEEP)
			return problem_set(p, 0, "measure sleeps by a request of their own",
					   "--turns: %s: sleeps run side by side, not in turns",
					   m->name);
		if (request_amount(r, m, &batch, &batch_count, p) < 0)
			return -1;
	}
	return 0;
}
