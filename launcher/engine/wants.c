/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/wants.h"

#include <sched.h>

#include "model/container_spec.h"

bool wants_any_join(const struct container_spec *spec)
{
	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		if (spec->join[k] != NULL)
			return true;
	return false;
}

bool wants_announcement(const struct container_spec *spec)
{
	return spec->pid_file != NULL || spec->info_fd >= 0;
}

bool wants_bound(const struct container_spec *spec)
{
	return ~spec->capabilities != 0;
}

bool wants_cgroup_namespace(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWCGROUP);
}

bool wants_devices(const struct container_spec *spec)
{
	return spec->root != NULL && spec->dev == TREE_OCI;
}

bool wants_filter_early(const struct container_spec *spec)
{
	return spec->filter != NULL && !spec->no_new_privs;
}

bool wants_filter_late(const struct container_spec *spec)
{
	return spec->filter != NULL && spec->no_new_privs;
}

bool wants_gate(const struct container_spec *spec)
{
	return spec->sync_fd >= 0;
}

bool wants_hostname(const struct container_spec *spec)
{
	return spec->hostname != NULL;
}

bool wants_ids(const struct container_spec *spec)
{
	return spec->set_ids;
}

bool wants_init(const struct container_spec *spec)
{
	return spec->init;
}

bool wants_joined_mounts(const struct container_spec *spec)
{
	return spec->join[NS_MNT] != NULL;
}

bool wants_limit(const struct container_spec *spec)
{
	return ~spec->capabilities != 0 || spec->ambient != 0;
}

bool wants_limits(const struct container_spec *spec)
{
	return limits_any(&spec->limits);
}

bool wants_loopback(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWNET);
}

bool wants_mapped_root(const struct container_spec *spec)
{
	return spec->idmap_root;
}

bool wants_masks(const struct container_spec *spec)
{
	return spec->root != NULL && (spec->proc == TREE_OCI || spec->sys == TREE_OCI);
}

bool wants_mounts(const struct container_spec *spec)
{
	return spec->mount_count > 0;
}

bool wants_name(const struct container_spec *spec)
{
	return spec->name != NULL;
}

bool wants_network_namespace(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWNET);
}

bool wants_no_new_privileges(const struct container_spec *spec)
{
	return spec->no_new_privs;
}

bool wants_overlay(const struct container_spec *spec)
{
	return spec->overlay != OVERLAY_NONE;
}

bool wants_pasta(const struct container_spec *spec)
{
	return spec->net == NET_PASTA;
}

bool wants_private_mounts(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWNS);
}

bool wants_process_limits(const struct container_spec *spec)
{
	return spec->rlimit_count > 0 || spec->oom_score_adj != KEEP_OOM_SCORE;
}

bool wants_root(const struct container_spec *spec)
{
	return spec->root != NULL;
}

bool wants_sealed_root(const struct container_spec *spec)
{
	return spec->root != NULL && spec->read_only;
}

bool wants_session(const struct container_spec *spec)
{
	return spec->new_session || spec->terminal;
}

bool wants_terminal(const struct container_spec *spec)
{
	return spec->terminal;
}

bool wants_time_namespace(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWTIME);
}

bool wants_timeline(const struct container_spec *spec)
{
	return spec->timeline != NULL;
}

bool wants_user_namespace(const struct container_spec *spec)
{
	return creates(spec, CLONE_NEWUSER);
}

bool wants_workdir(const struct container_spec *spec)
{
	return spec->workdir != NULL;
}
