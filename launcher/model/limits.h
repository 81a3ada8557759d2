/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits.h - how much of the machine a container may use, as plain data
 *
 * Layer: model; pure, no system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct err;

enum { LIMIT_CPU_PERIOD_US = 100000 }; /* the kernel's own default, in v1 and in v2 */

/* 0 means "no limit": no cgroup is made for it. */
struct limits {
	uint64_t memory_bytes;
	uint64_t cpu_quota_us; /* processor time in each LIMIT_CPU_PERIOD_US */
	uint64_t pids;
};

bool limits_any(const struct limits *limits);

/* "512M", "1G", "1048576": a whole number of bytes with K, M, G or T (powers of 1024).
 * Returns 0, or -EINVAL for other forms and -ERANGE below 1M or beyond 2^63, with *e filled. */
int limits_parse_memory(const char *text, uint64_t *ret_bytes, struct err *e);

/* "1.5": processors, with up to three decimals.  -EINVAL for other forms, -ERANGE below 0.01
 * (the kernel's smallest quota is 1 ms) or beyond 8192. */
int limits_parse_cpus(const char *text, uint64_t *ret_quota_us, struct err *e);

/* "100": processes and threads.  -EINVAL for other forms, -ERANGE for 0 or more than the kernel
 * can number (PID_MAX_LIMIT, 4194304). */
int limits_parse_pids(const char *text, uint64_t *ret_pids, struct err *e);
