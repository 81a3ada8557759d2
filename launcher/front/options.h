/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - every option of timens-run, as one table */
#pragma once

#include <stddef.h>

struct err;
struct request;

struct option_row {
	const char *name;                                           /* without the dashes */
	const char *argument;                                       /* NULL: takes none */
	const char *group;                                          /* where --help shows it */
	int (*note)(struct request *q, char *value, struct err *e); /* 0 or -errno with *e */
	size_t field; /* without note: the char * or, without argument, the bool to set */
};

extern const struct option_row options[];
extern const size_t option_count;
