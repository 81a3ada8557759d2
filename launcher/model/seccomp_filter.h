/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_filter.h - a compiled filter, as seccomp(2) takes it */
#pragma once

#include <linux/filter.h>

struct seccomp_filter {
	struct sock_fprog program;
	unsigned int flags; /* SECCOMP_FILTER_FLAG_... */
};
