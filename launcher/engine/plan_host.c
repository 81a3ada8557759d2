/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plan_host.c - the order on the host's side; the table is at the end */
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/channel.h"
#include "engine/journal.h"
#include "engine/plan.h"
#include "engine/rows.h"
#include "engine/supervise.h"
#include "engine/wants.h"
#include "model/container_spec.h"
#include "steps/announce.h"
#include "steps/clock_offsets.h"
#include "steps/namespaces.h"
#include "steps/pasta.h"
#include "steps/resources.h"
#include "steps/rootfs.h"

enum { EXIT_NOT_STARTED = 125 };

static int check_clock_bounds(struct container *c, struct err *e)
{
	return clock_offsets_check(&c->spec->clocks, e);
}

static int take_name(struct container *c, struct err *e)
{
	return announce_take_name(c->spec->name, &c->name_lock, e);
}

static int open_root(struct container *c, struct err *e)
{
	return rootfs_open(c->spec->root, &c->root, e);
}

static int map_root(struct container *c, struct err *e)
{
	return rootfs_map_ids(c->root, c->pid, e);
}

static int limit_process(struct container *c, struct err *e)
{
	const struct container_spec *s = c->spec;
	int r = resources_limit(c->pid, s->rlimits, s->rlimit_count, e);

	if (r == 0 && s->oom_score_adj != KEEP_OOM_SCORE)
		r = resources_set_oom_score(c->pid, s->oom_score_adj, e);
	return r;
}

static int connect_by_pasta(struct container *c, struct err *e)
{
	return pasta_connect(c->pid, &c->pasta, e);
}

static int announce(struct container *c, struct err *e)
{
	int r = 0;

	if (c->spec->pid_file != NULL) {
		r = announce_pid_file(c->spec->pid_file, c->pid, e);
		c->wrote_pid_file = r == 0;
	}
	if (r == 0 && c->spec->info_fd >= 0)
		r = announce_info(c->spec->info_fd, c->pid, e);
	return r;
}

static int join_namespaces(struct container *c, struct err *e)
{
	/* Its user namespace may be what gives us the right to enter the others. */
	int r = c->join[NS_USER] >= 0 ? namespaces_join(NS_USER, c->join[NS_USER], e) : 0;

	for (enum namespace_kind k = 0; r == 0 && k < NS_COUNT; k++)
		if (c->join[k] >= 0 && k != NS_USER && k != NS_MNT)
			r = namespaces_join(k, c->join[k], e);
	return r;
}

static int make_cgroup(struct container *c, struct err *e)
{
	return cgroup_create(&c->spec->limits, &c->cgroup, e);
}

static int apply_limits(struct container *c, struct err *e)
{
	return cgroup_attach(&c->cgroup, c->pid, e);
}

static _Noreturn void be_the_child(struct container *c, struct err *e)
{
	close(take_fd(&c->channel)); /* or we would never see the host die */
	c->channel = take_fd(&c->child_channel);
	/* Or its reader would not see the end before the start. */
	if (c->spec->info_fd > STDERR_FILENO)
		close(c->spec->info_fd);
	c->at = NULL;
	(void)plan_run(&child_plan, c, e); /* returns only when it failed */
	channel_send_failure(c->channel, e);
	_exit(EXIT_NOT_STARTED);
}

static int clone_container(struct container *c, struct err *e)
{
	autoclose int into_cgroup = -1;
	int r = cgroup_open_for_clone(&c->cgroup, &into_cgroup, e);

	if (r < 0)
		return r;
	r = namespaces_clone(c->spec->new_namespaces & ~(uint32_t)CLONE_NEWNET, into_cgroup, e);
	if (r < 0)
		return r;
	if (r == 0)
		be_the_child(c, e);
	c->pid = r;
	(void)signal(SIGXFSZ, SIG_IGN); /* writing says it as well (EFBIG), and we can undo then */
	close(take_fd(&c->child_channel)); /* or we would never see end of file */
	return 0;
}

static int wait_at_gate(struct container *c, struct err *e)
{
	return supervise_gate(c, c->spec->sync_fd, e);
}

static int wait_for_exec(struct container *c, struct err *e)
{
	int r = channel_expect(c->channel, NOTE_END_OF_FILE, NULL, e);

	if (r == 0 && c->spec->timeline != NULL)
		c->spec->timeline->ran = true;
	return r;
}

static int begin_timeline(struct container *c, struct err *e)
{
	return journal_begin(c->spec->timeline, e);
}

static const struct step host_steps[] = {
	{ "clock bounds", "a clock that cannot start is refused before anything is made",
	  wants_time_namespace, check_clock_bounds },
	{ "name", "taken before anything is made, and given back by the kernel", wants_name,
	  take_name },
	{ "signals", "none may be lost between now and the wait below", NULL,
	  supervise_block_signals },
	{ "open namespaces", "their paths are the host's, inside they mean nothing", wants_any_join,
	  rows_open_namespaces },
	{ "cgroup", "limits hold from the first moment; a guard removes it even after our SIGKILL",
	  wants_limits, make_cgroup },
	{ "join namespaces", "with our rights, which the child in a user namespace has not",
	  wants_any_join, join_namespaces },
	{ "open root", "only we can map the owners of its files, and the child inherits it",
	  wants_mapped_root, open_root },
	{ "channel", "the two processes talk from the first moment", NULL, rows_open_channel },
	{ "clone", "all new namespaces at once, except time, cgroup and network", NULL,
	  clone_container },
	{ "limits", "the child waits for its id maps, it has used nothing yet", wants_limits,
	  apply_limits },
	{ "write id maps", "only a process outside may map more than itself", wants_user_namespace,
	  rows_write_id_maps },
	{ "process limits", "inside, nobody may raise one", wants_process_limits, limit_process },
	{ "map root", "the maps are there, and the child has not mounted it yet", wants_mapped_root,
	  map_root },
	{ "mapped", "lets the child go on", NULL, rows_send_mapped },
	{ "set-up", "the child works through its own table", NULL, rows_wait_for_ready },
	{ "pasta", "the network namespace is ready, and nobody uses it yet", wants_pasta,
	  connect_by_pasta },
	{ "announce", "all that can be told is final", wants_announcement, announce },
	{ "start gate", "whoever holds the gate may still prepare something", wants_gate,
	  wait_at_gate },
	{ "timeline", "time is reserved on disk before anyone inside can read a clock",
	  wants_timeline, begin_timeline },
	{ "start", "nothing is left to prepare", host_prepares, rows_send_start },
	{ "exec", "end of file means that exec worked", NULL, wait_for_exec },
	{ "wait", "forwards signals; whatever happens above, all is undone after it", NULL,
	  supervise_wait },
};

const struct plan host_plan = { host_steps, sizeof host_steps / sizeof *host_steps };
