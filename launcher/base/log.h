/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - what is worth saying although nothing has failed; errors go through struct err */
#pragma once

#include <stdbool.h>

/* The only global: set by --verbose before anything is done. */
extern bool log_verbose;

/* "timens-run: warning: ..." on standard error, always. */
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "timens-run: ..." on standard error: what the user must know to do the same again. */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, only with --verbose. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
