/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list args;

	*e = (struct err){ .code = code };
	va_start(args, fmt);
	(void)vsnprintf(e->text, sizeof e->text, fmt, args); /* cut off rather than lost */
	va_end(args);
	return -code;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(e->hint, sizeof e->hint, fmt, args);
	va_end(args);
	return -e->code;
}
