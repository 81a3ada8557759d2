/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/rlimit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

static const char *const names[] = {
	[RLIMIT_AS] = "as",
	[RLIMIT_CORE] = "core",
	[RLIMIT_CPU] = "cpu",
	[RLIMIT_DATA] = "data",
	[RLIMIT_FSIZE] = "fsize",
	[RLIMIT_LOCKS] = "locks",
	[RLIMIT_MEMLOCK] = "memlock",
	[RLIMIT_MSGQUEUE] = "msgqueue",
	[RLIMIT_NICE] = "nice",
	[RLIMIT_NOFILE] = "nofile",
	[RLIMIT_NPROC] = "nproc",
	[RLIMIT_RSS] = "rss",
	[RLIMIT_RTPRIO] = "rtprio",
	[RLIMIT_RTTIME] = "rttime",
	[RLIMIT_SIGPENDING] = "sigpending",
	[RLIMIT_STACK] = "stack",
};

const char *rlimit_name(int resource)
{
	return names[resource];
}

static bool parse_value(const char *text, rlim_t *ret)
{
	uint64_t number;

	if (strcmp(text, "unlimited") == 0) {
		*ret = RLIM_INFINITY;
		return true;
	}
	if (!text_to_number(text, RLIM_INFINITY - 1, &number))
		return false;
	*ret = number;
	return true;
}

int rlimit_parse(const char *text, struct rlimit_setting *ret, struct err *e)
{
	char copy[80], *rest = copy, *name, *soft;

	if (strlen(text) >= sizeof copy)
		return err_set(e, EINVAL, "a limit of more than %zu characters", sizeof copy - 1);
	strcpy(copy, text);
	name = text_next_field(&rest, '=');
	for (ret->resource = 0; ret->resource < (int)RLIM_NLIMITS; ret->resource++)
		if (strcmp(names[ret->resource], name) == 0)
			break;
	if (ret->resource == (int)RLIM_NLIMITS) {
		(void)err_set(e, EINVAL, "'%s' is not a resource", name);
		return err_hint(e,
				"one of: as core cpu data fsize locks memlock msgqueue nice nofile "
				"nproc rss rtprio rttime sigpending stack");
	}
	soft = text_next_field(&rest, ':');
	if (soft == NULL || !parse_value(soft, &ret->value.rlim_cur) ||
	    !parse_value(rest != NULL ? rest : soft, &ret->value.rlim_max)) {
		(void)err_set(e, EINVAL, "'%s' is not a limit", text);
		return err_hint(e, "NAME=SOFT[:HARD], each a number or \"unlimited\"");
	}
	if (ret->value.rlim_cur > ret->value.rlim_max)
		return err_set(e, EINVAL, "the soft limit in '%s' is above the hard limit", text);
	return 0;
}
