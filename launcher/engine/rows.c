/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/rows.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/channel.h"
#include "engine/plan.h"
#include "model/container_spec.h"
#include "steps/clock_offsets.h"
#include "steps/id_maps.h"
#include "steps/namespaces.h"
#include "steps/privileges.h"
#include "steps/rootfs.h"
#include "steps/seccomp.h"

int rows_open_channel(struct container *c, struct err *e)
{
	return channel_open(&c->channel, &c->child_channel, e);
}

int rows_open_namespaces(struct container *c, struct err *e)
{
	return namespaces_open(c->spec->join, c->join, e);
}

int rows_write_id_maps(struct container *c, struct err *e)
{
	const struct container_spec *s = c->spec;

	return s->map_by_helper
		       ? id_maps_write_by_helper(c->pid, &s->users, &s->groups, e)
		       : id_maps_write(c->pid, &s->users, &s->groups, s->deny_setgroups, e);
}

int rows_send_mapped(struct container *c, struct err *e)
{
	return channel_send(c->channel, NOTE_MAPPED, -1, e);
}

int rows_wait_for_ready(struct container *c, struct err *e)
{
	return channel_expect(c->channel, NOTE_READY, &c->terminal, e);
}

int rows_send_start(struct container *c, struct err *e)
{
	return channel_send(c->channel, NOTE_START, -1, e);
}

int rows_wait_for_maps(struct container *c, struct err *e)
{
	return channel_expect(c->channel, NOTE_MAPPED, NULL, e);
}

int rows_make_session(struct container *c, struct err *e)
{
	(void)c;
	if (setsid() < 0)
		return err_set(e, errno, "cannot create a session");
	return 0;
}

int rows_make_cgroup_namespace(struct container *c, struct err *e)
{
	(void)c;
	return namespaces_new_cgroup(e);
}

int rows_shift_clocks(struct container *c, struct err *e)
{
	return clock_offsets_enter(&c->spec->clocks, e);
}

int rows_bring_loopback_up(struct container *c, struct err *e)
{
	(void)c;
	return namespaces_loopback_up(e);
}

int rows_enter_root(struct container *c, struct err *e)
{
	return rootfs_enter(c->root, e);
}

int rows_seal_root(struct container *c, struct err *e)
{
	return rootfs_seal(c->root, e);
}

int rows_load_filter(struct container *c, struct err *e)
{
	return seccomp_load_filter(c->spec->filter, e);
}

int rows_change_directory(struct container *c, struct err *e)
{
	return rootfs_change_directory(c->spec->workdir, e);
}

int rows_forbid_new_privileges(struct container *c, struct err *e)
{
	(void)c;
	return privileges_no_new(e);
}
