/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * request.h - what one `timens-bench measure` was asked to do; text in, checked data out
 */
#pragma once

#include "metrics.h"
#include "problem.h"
#include "ticks.h"

#define REQUEST_MAX 64 /* metrics of one request */

struct amount {
	uint32_t calls; /* 0: as the table of metrics says */
	uint32_t batch;
};

struct request {
	const struct metric *order[REQUEST_MAX];
	size_t count;
	struct amount amounts[REQUEST_MAX]; /* by metric_index() */
	int cpu;                            /* UNKNOWN: wherever the caller may run */
	long block;                         /* UNKNOWN: not part of a study */
	unsigned long repeat;               /* rounds over the whole order */
	uint32_t turn;                      /* batches per turn; 0: all at once */
	enum tick_source ticks;
	bool table;
};

void request_init(struct request *r);

/* Each takes the text of one option.  Returns 0, or -1 with *p filled. */
int request_metrics(struct request *r, const char *text, struct problem *p);
int request_calls(struct request *r, const char *text, struct problem *p);
int request_batch(struct request *r, const char *text, struct problem *p);
int request_cpu(struct request *r, const char *text, struct problem *p);
int request_block(struct request *r, const char *text, struct problem *p);
int request_repeat(struct request *r, const char *text, struct problem *p);
int request_turns(struct request *r, const char *text, struct problem *p);
int request_ticks(struct request *r, const char *text, struct problem *p);

/* Decimal digits only, at most max.  Returns 0, or -1. */
int request_number(const char *text, unsigned long max, unsigned long *ret_number);

/* What can only be said when all options are known: call it last.  Returns 0, or -1. */
int request_check(const struct request *r, struct problem *p);

/* What is to be measured for one metric: asked for itself, or for its partner, or the table's.
 * Calls are rounded up to whole batches.  Returns -1 when the two halves of a pair disagree. */
int request_amount(const struct request *r, const struct metric *m, uint32_t *ret_batch,
		   uint32_t *ret_batch_count, struct problem *p);
