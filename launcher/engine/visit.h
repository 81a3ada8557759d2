/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visit.h - do one thing inside another process's time namespace
 *
 * Source: time_namespaces(7), setns(2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

/* Forks; the child enters the user and time namespaces of `pid` where they differ from ours (0:
 * enters nothing), calls work(result) and ends.  `result` is `size` bytes that come back to the
 * caller.  A child that takes longer than `patience_s` seconds is killed: *ret_timed_out.
 *
 * Returns 0, or a negative errno with *e (and a hint) filled:
 *   -ESRCH  there is no such process
 *   -EACCES, -EPERM  neither root nor who started it
 */
int visit(pid_t pid, void (*work)(void *result), void *result, size_t size, unsigned patience_s,
	  bool *ret_timed_out, struct err *e);
