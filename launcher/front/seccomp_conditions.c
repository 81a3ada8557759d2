/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/seccomp_conditions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "front/seccomp_profile.h"
#include "model/capability.h"

static bool has_capability(const json_t *name, uint64_t capabilities)
{
	struct err ignored; /* a capability newer than we: nobody has it */
	uint64_t bits = 0;

	return json_is_string(name) &&
	       capability_parse(json_string_value(name), &bits, &ignored) == 0 &&
	       (capabilities & bits) == bits;
}

/* How many of the listed capabilities we have. */
static size_t count_capabilities(const json_t *list, uint64_t capabilities)
{
	const json_t *name;
	size_t i, n = 0;

	json_array_foreach (list, i, name)
		n += has_capability(name, capabilities) ? 1 : 0;
	return n;
}

static bool lists_architecture(const json_t *list, const char *architecture)
{
	const json_t *name;
	size_t i;

	json_array_foreach (list, i, name)
		if (json_is_string(name) && strcmp(json_string_value(name), architecture) == 0)
			return true;
	return false;
}

/* Is the kernel at least filter.minKernel ("4.8")?  Without it: `missing`. */
static int judge_kernel(const json_t *filter, const unsigned int have[2], bool missing, bool *ret,
			const char *where, struct err *e)
{
	const char *text = json_string_value(json_object_get(filter, "minKernel"));
	unsigned int major, minor;
	char junk;

	*ret = missing;
	if (text == NULL || *text == '\0')
		return 0;
	if (sscanf(text, "%4u.%4u%c", &major, &minor, &junk) != 2)
		return err_set(e, EINVAL, "%s: minKernel '%.32s' is not like 4.8", where, text);
	*ret = have[0] > major || (have[0] == major && have[1] >= minor);
	return 0;
}

int seccomp_conditions_hold(const json_t *entry, const struct profile_facts *facts,
			    const char *architecture, bool *ret, const char *where, struct err *e)
{
	const json_t *in = json_object_get(entry, "includes");
	const json_t *out = json_object_get(entry, "excludes");
	const json_t *needed_caps = json_object_get(in, "caps");
	const json_t *needed_arches = json_object_get(in, "arches");
	bool new_enough = true, too_new = false;
	int r;

	r = judge_kernel(in, facts->kernel_version, true, &new_enough, where, e);
	if (r == 0)
		r = judge_kernel(out, facts->kernel_version, false, &too_new, where, e);
	*ret = new_enough && !too_new &&
	       count_capabilities(needed_caps, facts->capabilities) ==
		       json_array_size(needed_caps) &&
	       (json_array_size(needed_arches) == 0 ||
		lists_architecture(needed_arches, architecture)) &&
	       count_capabilities(json_object_get(out, "caps"), facts->capabilities) == 0 &&
	       !lists_architecture(json_object_get(out, "arches"), architecture);
	return r;
}
