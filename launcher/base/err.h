/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* err.h - one failure: in which step, what we tried, the errno it gave, what the user can do
 *
 * A struct err is plain bytes.  It lives on the caller's stack, is filled where the failure
 * happens, travels from child to host unchanged (engine/channel.h), and is printed once, by
 * main(): "timens-run: STEP: TEXT: strerror(CODE)", then "hint: HINT" if there is one.
 */
#pragma once

struct err {
	int code;       /* errno value, > 0; 0 means "nothing failed" */
	char step[28];  /* filled by plan_run() or by the option that was wrong, "" before */
	char text[256]; /* one line, no newline: "cannot open /proc/self/uid_map" */
	char hint[192]; /* one line, "" when the user cannot act */
};

/* Fills *e and returns -code, so that callers can write: return err_set(e, errno, "..."); */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds the hint to a filled *e and returns -e->code: return err_hint(e, "..."); */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
