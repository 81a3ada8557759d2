/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "turns.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Without stdio: what would be read ahead belongs to the zygote that shares our input. */
int turn_wait(struct problem *p)
{
	static const char wanted[] = "{\"turn\":\"wanted\"}\n";
	ssize_t n;
	char turn;

	if (write(STDOUT_FILENO, wanted, strlen(wanted)) < 0)
		return problem_set(p, errno, NULL, "cannot ask for a turn");
	do {
		n = read(STDIN_FILENO, &turn, 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return problem_set(p, errno, NULL, "cannot wait for a turn");
	if (n == 0)
		return problem_set(p, 0, "--turns wants one byte on standard input per turn",
				   "nobody gives turns: end of file");
	return 0;
}
