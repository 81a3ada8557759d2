/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * problem.h - one failure: of what, the cause, and what the user can do about it
 *
 * It is filled where the facts are, passed up, and printed once, by main():
 *   timens-bench: TEXT: strerror(CODE)
 *   hint: HINT
 */
#pragma once

struct problem {
	int code;         /* errno value; 0 when the text says it all */
	char text[240];   /* one line: "timerfd_create: call 1001 of a batch failed" */
	const char *hint; /* NULL when there is nothing to do */
};

/* Fills *p and returns -1, so that callers can write: return problem_set(p, errno, NULL, "..."); */
int problem_set(struct problem *p, int code, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Prints it to stderr. */
void problem_print(const struct problem *p);
