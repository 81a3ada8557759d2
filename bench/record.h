/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * record.h - one metric, measured once: what schemas/record.schema.json describes
 */
#pragma once

#include <stdio.h>

#include "circumstances.h"
#include "metrics.h"

enum {
	FLAG_PREEMPTED = 1 << 0, /* somebody else had the CPU for a fifth of the time */
	FLAG_STEAL = 1 << 1,     /* the hypervisor ran something else */
	FLAG_MIGRATED = 1 << 2,
	FLAG_FREQUENCY = 1 << 3, /* the canary moved by more than 1 % */
};

/* Ticks per turn of the loops that are the same at any time, see loops.h. */
struct canary {
	double multiply;
	double empty;
};

struct record {
	const struct metric *metric;
	uint32_t position; /* in the order of the request */
	long block;        /* UNKNOWN when none was named */
	uint32_t batch;
	uint32_t batch_count;
	uint64_t *batch_ticks;
	uint32_t turn; /* batches per turn; 0: all at once */
	struct circumstances before;
	struct circumstances after;
	struct canary canary_before;
	struct canary canary_after;
};

/* The flags that follow from the numbers of a record. */
unsigned int record_flags(const struct record *r);

/* Names the flags, separated by commas, each in these quotes ("" for none). */
void record_print_flags(unsigned int flags, const char *quote, FILE *out);

/* Writes one line of JSON. */
void record_print(const struct record *r, FILE *out);
