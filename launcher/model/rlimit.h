/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rlimit.h - the names of resource limits, setrlimit(2)
 *
 * Layer: model; pure.
 */
#pragma once

#include <sys/resource.h>

struct err;

struct rlimit_setting {
	int resource;
	struct rlimit value;
};

/* Reads "nofile=1024" or "nofile=1024:4096"; a value may be "unlimited".
 * Returns 0, or -EINVAL with *e filled. */
int rlimit_parse(const char *text, struct rlimit_setting *ret, struct err *e);

/* "nofile" */
const char *rlimit_name(int resource);
