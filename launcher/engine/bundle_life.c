/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/bundle_life.h"

#include <errno.h>

#include "base/err.h"
#include "model/bundle.h"
#include "steps/cgroup_life.h"
#include "steps/cgroup_devices.h"
#include "steps/cgroup_set.h"
#include "steps/hooks.h"

bool bundle_is_frozen(const struct cgroup_set *set)
{
	return cgroup_set_is_frozen(set);
}

int bundle_freeze(const struct cgroup_set *set, bool freeze, struct err *e)
{
	return cgroup_set_freeze(set, freeze, e);
}

int bundle_members(const struct cgroup_set *set, pid_t **ret, size_t *ret_count, struct err *e)
{
	return cgroup_set_members(set, ret, ret_count, e);
}

void bundle_read(const struct cgroup_set *set, const char *file, char *text, size_t size)
{
	cgroup_set_read(set, file, text, size);
}

/* v1 refuses a limit of memory above that of memory and swap: the order depends on what is there
 * already, so what fails is tried once more after the others. */
static int write_limits(const struct cgroup_set *set, const struct bundle *b, struct err *e)
{
	int r = cgroup_set_limit(set, b->settings, b->setting_count, e);

	for (size_t i = 0; r == -EINVAL && i < b->setting_count; i++) {
		struct cgroup_setting *last = &b->settings[b->setting_count - 1 - i];
		struct err ignored;

		(void)cgroup_set_limit(set, last, 1, &ignored);
		if (i + 1 == b->setting_count)
			r = cgroup_set_limit(set, b->settings, b->setting_count, e);
	}
	return r;
}

int bundle_limit(const struct cgroup_set *set, const struct bundle *wanted, struct err *e)
{
	int r = write_limits(set, wanted, e);

	if (r < 0 || set->count == 0)
		return r;
	return cgroup_devices_allow(set, wanted->device_rules, wanted->device_rule_count, e);
}

int bundle_remove(const struct cgroup_set *set, struct err *e)
{
	return cgroup_set_remove(set, e);
}

int bundle_run_hooks(const struct hook_list *list, const char *state, struct err *e)
{
	return hooks_run(list, state, e);
}
