/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int problem_set(struct problem *p, int code, const char *hint, const char *fmt, ...)
{
	va_list args;

	p->code = code;
	p->hint = hint;
	va_start(args, fmt);
	(void)vsnprintf(p->text, sizeof p->text, fmt, args);
	va_end(args);
	return -1;
}

void problem_print(const struct problem *p)
{
	if (p->code)
		fprintf(stderr, "timens-bench: %s: %s\n", p->text, strerror(p->code));
	else
		fprintf(stderr, "timens-bench: %s\n", p->text);
	if (p->hint)
		fprintf(stderr, "hint: %s\n", p->hint);
}
