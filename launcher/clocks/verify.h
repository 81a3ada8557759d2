/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verify.h - does everything that reads a clock or waits for one agree with the offsets? */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Runs every probe inside the time namespace of `pid` and compares it with readings of our own
 * clocks before and after, plus the offset between the two namespaces.  With pid 0 it compares the
 * clocks of our own namespace with one another.  Prints a line for each, or JSON.
 *
 * Returns the number of those that disagree and are not known to, or -errno with *e filled. */
int clocks_verify(pid_t pid, bool json, struct err *e);
