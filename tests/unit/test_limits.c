/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits and capabilities as they are written on a command line. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "model/capability.h"
#include "model/limits.h"

typedef int parser(const char *text, uint64_t *ret, struct err *e);

static void gives(parser *parse, const char *text, uint64_t wanted)
{
	struct err e = { 0 };
	uint64_t got = 0;

	assert(parse(text, &got, &e) == 0);
	assert(got == wanted);
}

static void refuses(parser *parse, const char *text, int code, const char *why)
{
	struct err e = { 0 };
	uint64_t got = 42;

	assert(parse(text, &got, &e) == -code);
	assert(strcmp(e.text, why) == 0);
	assert(got == 42); /* results are written on success only */
}

static void memory_is_bytes_with_binary_units(void)
{
	gives(limits_parse_memory, "1048576", 1048576);
	gives(limits_parse_memory, "1024K", 1048576);
	gives(limits_parse_memory, "512M", UINT64_C(512) << 20);
	gives(limits_parse_memory, "2g", UINT64_C(2) << 30);
	gives(limits_parse_memory, "8388607T", UINT64_C(8388607) << 40);
}

static void memory_of_another_form_is_refused(void)
{
	static const char *const wrong[] = { "",    "M",   "-1M",   "+5M", "1.5G",
					     "5MB", "5 M", "0x10M", "1P",  "99999999999999999999" };

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char why[96];

		strcpy(why, "memory limit '");
		strcat(strcat(why, wrong[i]), "': not a whole number with K, M, G or T");
		refuses(limits_parse_memory, wrong[i], EINVAL, why);
	}
	refuses(limits_parse_memory, "0", ERANGE, "memory limit '0': not between 1M and 2^63");
	refuses(limits_parse_memory, "1023K", ERANGE,
		"memory limit '1023K': not between 1M and 2^63");
	refuses(limits_parse_memory, "8388609T", ERANGE,
		"memory limit '8388609T': not between 1M and 2^63");
	refuses(limits_parse_memory, "18446744073709551615T", ERANGE,
		"memory limit '18446744073709551615T': not between 1M and 2^63");
}

static void processors_become_a_quota(void)
{
	gives(limits_parse_cpus, "1", 100000);
	gives(limits_parse_cpus, "1.5", 150000);
	gives(limits_parse_cpus, "0.01", 1000);
	gives(limits_parse_cpus, "0.125", 12500);
	gives(limits_parse_cpus, "8191.999", 819199900);
	refuses(limits_parse_cpus, "", EINVAL, "processors '': not a number with up to 3 decimals");
	refuses(limits_parse_cpus, "1.", EINVAL,
		"processors '1.': not a number with up to 3 decimals");
	refuses(limits_parse_cpus, ".5", EINVAL,
		"processors '.5': not a number with up to 3 decimals");
	refuses(limits_parse_cpus, "1.2345", EINVAL,
		"processors '1.2345': not a number with up to 3 decimals");
	refuses(limits_parse_cpus, "1,5", EINVAL,
		"processors '1,5': not a number with up to 3 decimals");
	refuses(limits_parse_cpus, "0", ERANGE, "processors '0': not between 0.01 and 8192");
	refuses(limits_parse_cpus, "0.009", ERANGE,
		"processors '0.009': not between 0.01 and 8192");
	refuses(limits_parse_cpus, "8192", ERANGE, "processors '8192': not between 0.01 and 8192");
}

static void processes_are_counted(void)
{
	gives(limits_parse_pids, "1", 1);
	gives(limits_parse_pids, "4194304", 4194304);
	refuses(limits_parse_pids, "0", ERANGE, "process limit '0': not between 1 and 4194304");
	refuses(limits_parse_pids, "4194305", ERANGE,
		"process limit '4194305': not between 1 and 4194304");
	refuses(limits_parse_pids, "many", EINVAL, "process limit 'many': not a whole number");
	refuses(limits_parse_pids, "5 ", EINVAL, "process limit '5 ': not a whole number");
}

static void no_limit_is_no_cgroup(void)
{
	assert(!limits_any(&(struct limits){ 0 }));
	assert(limits_any(&(struct limits){ .memory_bytes = 1 }));
	assert(limits_any(&(struct limits){ .cpu_quota_us = 1 }));
	assert(limits_any(&(struct limits){ .pids = 1 }));
}

static void capabilities_have_names(void)
{
	gives(capability_parse, "CAP_CHOWN", 1);
	gives(capability_parse, "sys_time", UINT64_C(1) << 25);
	gives(capability_parse, "Cap_Checkpoint_Restore", UINT64_C(1) << 40);
	gives(capability_parse, "all", (UINT64_C(1) << 41) - 1);
	refuses(capability_parse, "sys_tyme", EINVAL, "'sys_tyme' is not a capability");
	refuses(capability_parse, "CAP_ALL", EINVAL, "'CAP_ALL' is not a capability");
}

int main(void)
{
	memory_is_bytes_with_binary_units();
	memory_of_another_form_is_refused();
	processors_become_a_quota();
	processes_are_counted();
	no_limit_is_no_cgroup();
	capabilities_have_names();
	return 0;
}
