/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vdso_probe.h - which readings of the time stay in user space, in this process
 */
#pragma once

#include <stddef.h>
#include <time.h>

#include "metrics.h"
#include "problem.h"

enum answer {
	ANSWER_MISSING,     /* the vDSO has no such function */
	ANSWER_USER_SPACE,  /* it answered without the kernel */
	ANSWER_SYSTEM_CALL, /* it asked the kernel */
	ANSWER_ERROR,       /* it failed by itself: no such clock */
};

struct probe {
	const char *function; /* "clock_gettime" */
	const char *clock;    /* "CLOCK_MONOTONIC"; NULL for functions without */
	clockid_t id;
	enum route route; /* ROUTE_VDSO or ROUTE_LIBC */
	enum answer answer;
};

#define PROBES_MAX 64

/* Tries them all in a child that may make no system call for the time.
 * Returns their number, or -1 with *p filled. */
int vdso_probe_all(struct probe probes[PROBES_MAX], struct problem *p);

/* Name of a clock, or NULL. */
const char *vdso_clock_name(clockid_t id);

/* Why a probe did not stay in user space: "missing", "cpu_time_clock", "clock_id" or
 * "clock_source"; NULL when it did. */
const char *vdso_probe_reason(const struct probe *probe);
