/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool log_verbose;

static void print(const char *kind, const char *fmt, va_list args)
{
	char line[512];

	(void)vsnprintf(line, sizeof line, fmt, args); /* cut off rather than lost */
	fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, kind, line);
}

void log_warning(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("warning: ", fmt, args);
	va_end(args);
}

void log_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("", fmt, args);
	va_end(args);
}

void log_info(const char *fmt, ...)
{
	va_list args;

	if (!log_verbose)
		return;
	va_start(args, fmt);
	print("", fmt, args);
	va_end(args);
}
