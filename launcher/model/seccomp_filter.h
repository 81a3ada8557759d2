/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_filter.h - a compiled filter, as seccomp(2) takes it */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>

struct seccomp_filter {
	struct sock_fprog program;
	unsigned int flags; /* SECCOMP_FILTER_FLAG_... */
};

/* Does it leave calls to an agent (SCMP_ACT_NOTIFY)? */
bool seccomp_filter_notifies(const struct seccomp_filter *filter);
