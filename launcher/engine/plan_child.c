/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plan_child.c - the order inside the new namespaces; the table is at the end */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/channel.h"
#include "engine/init.h"
#include "engine/journal.h"
#include "engine/network.h"
#include "engine/plan.h"
#include "engine/rows.h"
#include "engine/wants.h"
#include "model/container_spec.h"
#include "steps/clock_offsets.h"
#include "steps/devices.h"
#include "steps/mounts.h"
#include "steps/namespaces.h"
#include "steps/overlay.h"
#include "steps/privileges.h"
#include "steps/rootfs.h"
#include "steps/terminal.h"

static const char *const nothing[] = { NULL };

static int become_root_inside(struct container *c, struct err *e)
{
	(void)c;
	return privileges_become_root(e);
}

static int join_mounts(struct container *c, struct err *e)
{
	return namespaces_join(NS_MNT, c->join[NS_MNT], e);
}

static int set_hostname(struct container *c, struct err *e)
{
	return namespaces_set_hostname(c->spec->hostname, e);
}

static int make_mounts_private(struct container *c, struct err *e)
{
	(void)c;
	return rootfs_make_private(e);
}

static int attach_root(struct container *c, struct err *e)
{
	const struct container_spec *s = c->spec;
	int r = c->root < 0 ? rootfs_open(s->root, &c->root, e)
			    : 0; /* else the host has opened it */

	if (r < 0 || s->overlay != OVERLAY_NONE) /* an overlay takes it as it is, for a layer */
		return r;
	return rootfs_attach(c->root, s->root, s->read_only, e);
}

static int mount_overlay(struct container *c, struct err *e)
{
	const struct container_spec *s = c->spec;

	return overlay_mount(&c->root, s->root, s->overlay_dir, creates(s, CLONE_NEWUSER), e);
}

static int make_terminal(struct container *c, struct err *e)
{
	return terminal_make(c->root, c->spec->uid, &c->terminal, e);
}

static int make_first_mounts(struct container *c, struct err *e)
{
	if (c->root < 0) /* --only: the root that we have */
		c->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->root < 0)
		return err_set(e, errno, "cannot open /");
	return mounts_make(c->root, c->spec->mounts, mount_count_before_network(c->spec), e);
}

static int make_other_mounts(struct container *c, struct err *e)
{
	size_t made = mount_count_before_network(c->spec);

	return mounts_make(c->root, c->spec->mounts + made, c->spec->mount_count - made, e);
}

static int make_devices(struct container *c, struct err *e)
{
	return devices_make(c->root, e);
}

static int mask_paths(struct container *c, struct err *e)
{
	int r = 0;

	if (c->spec->proc == TREE_OCI)
		r = rootfs_protect(c->root, "/proc", mount_masked_proc, mount_read_only_proc, e);
	if (r == 0 && c->spec->sys == TREE_OCI)
		r = rootfs_protect(c->root, "/sys", mount_masked_sys, nothing, e);
	return r;
}

static int bound_capabilities(struct container *c, struct err *e)
{
	return privileges_bound(c->spec->capabilities, e);
}

static int set_ids(struct container *c, struct err *e)
{
	const struct container_spec *s = c->spec;

	return privileges_set_ids(s->uid, s->gid, s->group_list, s->group_count, s->deny_setgroups,
				  e);
}

static int limit_capabilities(struct container *c, struct err *e)
{
	return privileges_limit(c->spec->capabilities, c->spec->ambient, e);
}

static int die_with_launcher(struct container *c, struct err *e)
{
	(void)c;
	return privileges_die_with_parent(e);
}

static int report_ready(struct container *c, struct err *e)
{
	return channel_send(c->channel, NOTE_READY, c->terminal, e);
}

static int wait_for_start(struct container *c, struct err *e)
{
	return channel_expect(c->channel, NOTE_START, NULL, e);
}

static int run_rest(void *argument)
{
	struct container *c = argument;
	struct err e = { 0 };

	(void)plan_run(&child_plan, c, &e); /* returns only when it failed */
	channel_send_failure(c->channel, &e);
	return 125; /* clone(2) makes it the exit status */
}

/* Does not return here: the payload continues in the table, init stays behind. */
static int split_into_init_and_payload(struct container *c, struct err *e)
{
	int lease = c->spec->timeline != NULL ? c->spec->timeline->lease : -1;
	pid_t payload;
	int r = c->by_root ? privileges_hide_program(e) : 0;

	if (r < 0)
		return r;
	payload = init_spawn(run_rest, c);
	if (payload < 0) {
		(void)err_set(e, errno, "cannot start the payload");
		return e->code != EAGAIN
			       ? -e->code
			       : err_hint(e, "a limit of processes is reached: --pids, "
					     "ulimit -u, pids.max; --no-init needs one less");
	}
	/* The channel, so that the host sees its end of file, and the standard streams, so that
	 * whoever reads them sees the payload close them. */
	if (lease > 0) /* fails on Linux before 5.9 only: then as if not done */
		(void)close_range(0, (unsigned int)lease - 1, 0);
	(void)close_range((unsigned int)(lease + 1), ~0U, 0);
	init_wait(payload, lease);
}

static int close_other_files(struct container *c, struct err *e)
{
	(void)c;
	if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return err_set(e, errno, "cannot mark open files");
	return 0;
}

static int exec_payload(struct container *c, struct err *e)
{
	const char *program = c->spec->argv[0];

	environ = c->spec->env; /* the PATH in it is the one that counts */
	(void)sigprocmask(SIG_SETMASK, &c->caller_mask, NULL); /* cannot fail */
	clock_offsets_tell();
	execvp(program, c->spec->argv);
	(void)err_set(e, errno, "cannot execute '%s'", program);
	if (e->code == ENOENT && strchr(program, '/') != NULL && access(program, F_OK) == 0)
		return err_hint(e, "the file is there, but the interpreter or loader that it names "
				   "is not: see timens-rootfs add");
	if (e->code == ENOENT && strchr(program, '/') == NULL)
		return err_hint(e, "looked for in the PATH of the container");
	return -e->code;
}

static const struct step child_steps[] = {
	{ "network namespace", "takes a third of the time: made beside all that can do without it",
	  wants_network_namespace, network_begin },
	{ "id maps", "before them we are nobody inside", NULL, rows_wait_for_maps },
	{ "root inside", "owns the namespaces made below", wants_user_namespace,
	  become_root_inside },
	{ "session", "no terminal of the host can be typed into from inside", wants_session,
	  rows_make_session },
	{ "join mounts", "the launcher itself still needs the paths of the host",
	  wants_joined_mounts, join_mounts },
	{ "cgroup namespace", "shows the cgroup that we are in by now as its root",
	  wants_cgroup_namespace, rows_make_cgroup_namespace },
	{ "time namespace", "offsets freeze once it has a member", wants_time_namespace,
	  rows_shift_clocks },
	{ "host name", "the new uts namespace is ours to name", wants_hostname, set_hostname },
	{ "propagation", "else our mounts would appear on the host", wants_private_mounts,
	  make_mounts_private },
	{ "root filesystem", "becomes a mount, as pivot_root demands", wants_root, attach_root },
	{ "overlay", "takes all changes from here on", wants_overlay, mount_overlay },
	{ "mounts", "while the host's files can still be seen", wants_mounts, make_first_mounts },
	{ "devices", "bound from the host, as nobody may make them here", wants_devices,
	  make_devices },
	{ "bounding set", "takes nothing from us; needs a capability that goes below", wants_bound,
	  bound_capabilities },
	{ "enter network", "sysfs shows the network of whoever mounts it", wants_network_namespace,
	  network_enter },
	{ "mounts", "from sysfs on", wants_mounts, make_other_mounts },
	{ "terminal", "its devpts is mounted, and the session has none yet", wants_terminal,
	  make_terminal },
	{ "mask paths", "nothing is mounted on /proc and /sys after this", wants_masks,
	  mask_paths },
	{ "read-only root", "every place to mount something on has been made", wants_sealed_root,
	  rows_seal_root },
	{ "pivot root", "the host's files are gone from here on", wants_root, rows_enter_root },
	/* ---- below this line privileges only shrink ------------------------------------- */
	{ "seccomp filter", "needs a capability without no_new_privs", wants_filter_early,
	  rows_load_filter },
	{ "ids and groups", "needs capabilities that go next", wants_ids, set_ids },
	{ "capabilities", "nothing below needs one", wants_limit, limit_capabilities },
	{ "working directory", "only where this user may be", wants_workdir,
	  rows_change_directory },
	{ "no new privileges", "no setuid program inside can give them back",
	  wants_no_new_privileges, rows_forbid_new_privileges },
	{ "die with launcher", "a change of ids would have undone it", NULL, die_with_launcher },
	{ "ready", "all that can fail has been done, only exec is left", NULL, report_ready },
	{ "start", "the host still prepares something", host_prepares, wait_for_start },
	{ "init", "PID 1 stays to reap and to forward signals", wants_init,
	  split_into_init_and_payload },
	{ "other files", "what the caller had open is not for the payload", NULL,
	  close_other_files },
	{ "seccomp filter", "for the payload alone; nothing but exec is left to be filtered",
	  wants_filter_late, rows_load_filter },
	{ "exec", "closes the channel, which tells the host that it worked", NULL, exec_payload },
};

const struct plan child_plan = { child_steps, sizeof child_steps / sizeof *child_steps };
