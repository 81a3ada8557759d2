/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * time_filter.h - a seccomp filter that catches the system calls that read clocks
 *
 * What stays in user space does not meet it: a vDSO function that answers although every system
 * call for the time is refused did not make one.  Needs no privilege; seccomp(2).
 */
#pragma once

#include <stdint.h>

#include "problem.h"

/* The errno that refused calls get: none that they give themselves. */
#define REFUSED_ERRNO EXDEV

/* For good, in the calling process and what it forks: all of them fail with REFUSED_ERRNO. */
int time_filter_refuse(struct problem *p);

/* For good: all of them are told to the holder of *ret_listener, and wait for its answer. */
int time_filter_listen(int *ret_listener, struct problem *p);

/* Name of one of these system calls, NULL for any other; *ret_has_clock: the first argument is
 * a clock id. */
const char *time_filter_name(int number, int *ret_has_clock);
