/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * subject.h - what a metric calls: made before the first call, undone after the last
 */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "loops.h"
#include "metrics.h"
#include "problem.h"

/* The arguments of the calls point into this struct: it must not move once it is open. */
struct subject {
	const struct metric *metric;
	struct loop_call first;  /* the call that is repeated, or the creating half of a pair */
	struct loop_call second; /* the deleting half of a pair */
	const void *function;
	long arg0;
	long arg1;
	long discarded; /* where loops leave results that nobody needs */
	long *handles;  /* pairs: the timers or files of one batch */
	int fd;
	long timer;
	struct sigevent event;
	union {
		struct timespec time;
		struct timeval time_of_day;
		struct itimerspec timer;
	} data;
};

/* Makes what the metric needs to be called in batches of this size.
 * Returns 0, or -1 with *p filled. */
int subject_open(struct subject *s, const struct metric *m, uint32_t batch, struct problem *p);

void subject_close(struct subject *s);

/* Repeats the call.  Returns all results OR-ed: subject_failed() says what that means. */
long subject_run(const struct subject *s, uint32_t n);

/* Pairs: deletes what subject_run() created. */
long subject_undo(const struct subject *s, uint32_t n);

/* Sleeps: sets the deadline, if there is one. */
void subject_aim(struct subject *s);

/* True when one of the OR-ed results was an error. */
bool subject_failed(const struct subject *s, long results);
