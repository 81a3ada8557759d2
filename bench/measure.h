/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * measure.h - run one metric and keep every batch
 */
#pragma once

#include <stdint.h>

#include "metrics.h"
#include "problem.h"
#include "record.h"
#include "ticks.h"

struct cell {
	const struct metric *metric;
	uint32_t batch;
	uint32_t batch_count;
	uint32_t turn; /* batches per turn; 0: all at once */
	enum tick_source ticks;
};

/* Measures one metric, and its partner with it when it is one half of a pair.
 * Fills metric, batch, batches, circumstances and canaries of r[0] and, for a pair, of r[1]; r[0]
 * is the metric that was asked for.  The caller frees batch_ticks of both.
 * Returns 0, or -1 with *p filled. */
int measure_cell(const struct cell *cell, struct record r[2], struct problem *p);

/* Ticks of one turn of loop_multiply() and of loop_empty(). */
struct canary measure_canary(enum tick_source ticks);
