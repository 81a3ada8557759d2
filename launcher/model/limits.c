/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/limits.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define MEMORY_MIN (UINT64_C(1) << 20) /* less does not even hold the init and its page tables */
#define MEMORY_MAX (UINT64_C(1) << 63)
#define CPUS_MAX 8192    /* the most that a Linux kernel is built for (CONFIG_NR_CPUS) */
#define PIDS_MAX 4194304 /* PID_MAX_LIMIT, linux/threads.h */

bool limits_any(const struct limits *limits)
{
	return limits->memory_bytes != 0 || limits->cpu_quota_us != 0 || limits->pids != 0;
}

/* Digits only.  Returns what follows them, or NULL if there are none or they are beyond 2^64. */
static const char *read_digits(const char *text, uint64_t *ret)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return NULL;
	*ret = value;
	return p == text ? NULL : p;
}

int limits_parse_memory(const char *text, uint64_t *ret_bytes, struct err *e)
{
	static const char units[] = "KMGT";
	unsigned shift = 0;
	uint64_t value;
	const char *end = read_digits(text, &value);

	if (end && *end != '\0') {
		char upper = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
		const char *unit = strchr(units, upper);

		if (!unit || end[1] != '\0')
			end = NULL;
		else
			shift = 10 * (unsigned)(unit - units + 1);
	}
	if (!end)
		return err_set(e, EINVAL, "memory limit '%s': not a whole number with K, M, G or T",
			       text);
	if (value > MEMORY_MAX >> shift || value << shift < MEMORY_MIN)
		return err_set(e, ERANGE, "memory limit '%s': not between 1M and 2^63", text);
	*ret_bytes = value << shift;
	return 0;
}

int limits_parse_cpus(const char *text, uint64_t *ret_quota_us, struct err *e)
{
	uint64_t whole, thousandths = 0;
	const char *end = read_digits(text, &whole);

	if (end && *end == '.') {
		const char *fraction = end + 1;

		end = read_digits(fraction, &thousandths);
		if (end && end - fraction <= 3)
			for (long digits = end - fraction; digits < 3; digits++)
				thousandths *= 10;
		else
			end = NULL;
	}
	if (!end || *end != '\0')
		return err_set(e, EINVAL, "processors '%s': not a number with up to 3 decimals",
			       text);
	if (whole >= CPUS_MAX || (whole == 0 && thousandths < 10))
		return err_set(e, ERANGE, "processors '%s': not between 0.01 and %d", text,
			       CPUS_MAX);
	*ret_quota_us = (whole * 1000 + thousandths) * (LIMIT_CPU_PERIOD_US / 1000);
	return 0;
}

int limits_parse_pids(const char *text, uint64_t *ret_pids, struct err *e)
{
	uint64_t value;
	const char *end = read_digits(text, &value);

	if (!end || *end != '\0')
		return err_set(e, EINVAL, "process limit '%s': not a whole number", text);
	if (value < 1 || value > PIDS_MAX)
		return err_set(e, ERANGE, "process limit '%s': not between 1 and %d", text,
			       PIDS_MAX);
	*ret_pids = value;
	return 0;
}
