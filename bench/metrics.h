/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * metrics.h - what can be measured: one row per metric, and nothing that runs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "loops.h"

enum route {
	ROUTE_VDSO, /* the function that the kernel maps into the process */
	ROUTE_LIBC, /* the function of the C library that this program is linked with */
	ROUTE_RAW,  /* the system call instruction (or one other instruction) */
};

enum kind {
	KIND_CALL,
	KIND_SLEEP,
};

/* A negative control cannot be moved by a namespace; a positive one must be. */
enum control {
	CONTROL_NONE,
	CONTROL_NEGATIVE,
	CONTROL_POSITIVE,
};

/* What has to exist before the first call: see subject.c. */
enum subject_kind {
	SUBJECT_NOTHING,
	SUBJECT_CLOCK,       /* a clock id and a struct to fill */
	SUBJECT_TIME_OF_DAY, /* a struct timeval */
	SUBJECT_COUNTER,     /* the tick counter itself */
	SUBJECT_TIMER,       /* one POSIX timer that lives through the record */
	SUBJECT_TIMER_PAIRS, /* batches of POSIX timers, created and deleted */
	SUBJECT_TIMERFD,     /* one timer file descriptor that lives through the record */
	SUBJECT_TIMERFD_PAIRS,
	SUBJECT_SLEEP,
};

struct metric {
	const char *name;
	bool paper; /* one of the 15 of the paper's Table III */
	enum route route;
	enum kind kind;
	enum control control;
	enum subject_kind subject;
	long number;          /* ROUTE_RAW: system call */
	const char *symbol;   /* ROUTE_VDSO: name in the vDSO */
	const void *function; /* ROUTE_LIBC */
	clockid_t clock;
	int flags;      /* TIMER_ABSTIME or 0 */
	uint32_t batch; /* calls between two readings of the counter */
	uint32_t calls; /* calls per record */
	bool is_second; /* of a pair: timed from the same pairs as its partner */
	const char *partner;
	/* What `timens-bench list` says. */
	const char *timed;
	const char *outside;
	const char *source;
};

/* Sleeps ask for this much, as the paper's do. */
#define SLEEP_NS 100000000

extern const struct metric metrics[];
extern const size_t metrics_count;

/* Returns NULL when there is no such metric. */
const struct metric *metric_find(const char *name);

/* Place of a metric in the table, for arrays that run beside it. */
size_t metric_index(const struct metric *m);

/* False when this kernel lacks the vDSO function. */
bool metric_available(const struct metric *m);

const char *route_name(enum route route);
const char *kind_name(enum kind kind);

/* Returns NULL for CONTROL_NONE. */
const char *control_name(enum control control);
