/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/bundle_wants.h"

#include <sched.h>
#include <stddef.h>

#include "model/bundle.h"
#include "model/container_spec.h"
#include "model/seccomp_filter.h"

bool bundle_changes_user(const struct container_spec *s)
{
	return creates(s, CLONE_NEWUSER) || s->join[NS_USER] != NULL;
}

bool bundle_wants_names(const struct container_spec *s)
{
	return s->hostname != NULL || s->bundle->domainname != NULL;
}

bool bundle_wants_sysctls(const struct container_spec *s)
{
	return s->bundle->sysctl_count > 0;
}

bool bundle_wants_host_hooks(const struct container_spec *s)
{
	return s->bundle->hooks[HOOK_PRESTART].count > 0 ||
	       s->bundle->hooks[HOOK_CREATE_RUNTIME].count > 0;
}

bool bundle_wants_container_hooks(const struct container_spec *s)
{
	return s->bundle->hooks[HOOK_CREATE_CONTAINER].count > 0;
}

bool bundle_wants_start_hooks(const struct container_spec *s)
{
	return s->bundle->hooks[HOOK_START_CONTAINER].count > 0;
}

bool bundle_wants_protection(const struct container_spec *s)
{
	return s->bundle->masked != NULL || s->bundle->read_only != NULL;
}

bool bundle_wants_propagation(const struct container_spec *s)
{
	return s->bundle->root_propagation != 0;
}

bool bundle_wants_mounts(const struct container_spec *s)
{
	return s->bundle->mount_count > 0;
}

bool bundle_wants_mapped_mounts(const struct container_spec *s)
{
	for (size_t i = 0; i < s->bundle->mount_count; i++)
		if (s->bundle->mounts[i].map_ids)
			return true;
	return false;
}

bool bundle_wants_agent(const struct container_spec *s)
{
	return s->filter != NULL && seccomp_filter_notifies(s->filter);
}

bool bundle_wants_early_agent(const struct container_spec *s)
{
	return bundle_wants_agent(s) && !s->no_new_privs;
}

bool bundle_wants_processors(const struct container_spec *s)
{
	return s->bundle->exec_cpus_before != NULL || s->bundle->exec_cpus != NULL;
}
