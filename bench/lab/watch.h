/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * watch.h - run a command and count the system calls that it makes for the time
 *
 * The kernel stops each such call and tells us; we count it and let it go on.  A reading that
 * stays in user space is never seen.  Children of the command are counted with it.
 *
 *   us                                    the command, after fork
 *     |  <---------------- listener (fd)    |  filter loaded, no_new_privs is on
 *     |                                     |  exec
 *     |  <---------------- "clock_gettime"  |  stopped
 *     |  go on --------------------------> |
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "problem.h"

struct tally {
	const char *function;
	int has_clock;
	int clock;
	uint64_t calls;
};

#define TALLIES_MAX 128

struct watched {
	struct tally tallies[TALLIES_MAX];
	int count;
	int status; /* as waitpid() says */
};

/* Returns 0 when the command has ended, or -1 with *p filled. */
int watch_command(char **argv, struct watched *ret_watched, struct problem *p);
