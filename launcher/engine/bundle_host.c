/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_host.c - the order on the engine's side; the tables are at the end */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/bundle.h"
#include "engine/bundle_wants.h"
#include "engine/channel.h"
#include "engine/rows.h"
#include "engine/wants.h"
#include "model/bundle.h"
#include "model/container_spec.h"
#include "steps/cgroup_devices.h"
#include "steps/cgroup_life.h"
#include "steps/hooks.h"
#include "steps/namespaces.h"
#include "steps/namespaces_enter.h"
#include "steps/payload.h"

static int make_cgroups(struct container *c, struct err *e)
{
	struct bundle_run *b = c->bundle;
	const struct bundle *wanted = c->spec->bundle;
	int r;

	if (!b->with_cgroups)
		return wanted->setting_count == 0
			       ? b->keeper->keep(b->keeper->arg, 0, &b->cgroups, e)
			       : err_set(e, EINVAL, "limits are asked for, but no cgroups");
	r = cgroup_set_choose(wanted->cgroups_path, wanted->id, &b->cgroups, e);
	if (r == 0)
		r = cgroup_set_check_unused(&b->cgroups, e);
	/* Kept before they are made: whoever cleans up after us must know them. */
	if (r == 0)
		r = b->keeper->keep(b->keeper->arg, 0, &b->cgroups, e);
	if (r == 0)
		r = cgroup_set_make(&b->cgroups, b->unprivileged && wanted->setting_count == 0, e);
	if (r == 0)
		r = cgroup_set_limit(&b->cgroups, wanted->settings, wanted->setting_count, e);
	if (r == 0 && !b->unprivileged) /* others can make no device at all */
		r = cgroup_devices_allow(&b->cgroups, wanted->device_rules,
					 wanted->device_rule_count, e);
	for (size_t i = 0; i < b->cgroups.count; i++) {
		struct cgroup_dir *d = &b->cgroups.dirs[i];
		char *point = strndup(d->dir, d->mount_length);
		const char *name = point != NULL ? strrchr(point, '/') : NULL;

		b->views[i] = (struct cgroup_view){ d->unified, creates(c->spec, CLONE_NEWCGROUP),
						    d->controllers,
						    name != NULL ? name + 1 : "unified", d->dir };
	}
	b->view_count = b->cgroups.count;
	return r;
}

static int open_sources(struct container *c, struct err *e)
{
	size_t count = c->spec->bundle->mount_count;

	c->bundle->trees = calloc(count, sizeof *c->bundle->trees);
	if (c->bundle->trees == NULL)
		return err_set(e, ENOMEM, "cannot open the mounts");
	return bundle_mounts_open(c->spec->bundle,
				  creates(c->spec, CLONE_NEWUSER) || c->join[NS_USER] >= 0,
				  c->bundle->trees, e);
}

static int listen_for_start(struct container *c, struct err *e)
{
	return bundle_listen(c->bundle->folder, &c->bundle->listener, e);
}

static int open_cgroups(struct container *c, struct err *e)
{
	return cgroup_set_open_entries(&c->bundle->cgroups, c->bundle->entries, e);
}

static int clone_with(const struct plan *plan, struct container *c, struct err *e)
{
	struct bundle_run *b = c->bundle;
	int into = cgroup_set_unified_entry(&b->cgroups, b->entries);
	int r = wants_any_join(c->spec) ? namespaces_enter(c->join, c->spec->new_namespaces, e)
					: namespaces_clone(c->spec->new_namespaces, into, e);

	if (r < 0)
		return r;
	if (r == 0)
		bundle_be_child(plan, c, e);
	c->pid = r;
	cgroup_set_close_entries(&b->cgroups, b->entries);
	close(take_fd(&c->child_channel)); /* or we would never see end of file */
	if (b->listener >= 0)
		close(take_fd(&b->listener)); /* or it would outlive the container */
	return 0;
}

static int clone_container(struct container *c, struct err *e)
{
	return clone_with(&bundle_child_plan, c, e);
}

static int clone_visitor(struct container *c, struct err *e)
{
	return clone_with(&exec_child_plan, c, e);
}

static int attach_to_unified(struct container *c, struct err *e)
{
	return cgroup_set_attach_unified(&c->bundle->cgroups, c->pid, e);
}

static int limit_process(struct container *c, struct err *e)
{
	return payload_limit(c->pid, c->spec, e);
}

static int run_runtime_hooks(struct container *c, struct err *e)
{
	const struct bundle_keeper *k = c->bundle->keeper;
	const struct bundle *b = c->spec->bundle;
	autofree char *state = NULL;
	int r = channel_expect(c->channel, NOTE_MOUNTED, NULL, e);

	if (r < 0)
		return r;
	state = k->describe(k->arg, c->pid, "created");
	if (state == NULL)
		return err_set(e, ENOMEM, "cannot describe the state for the hooks");
	r = hooks_run(&b->hooks[HOOK_PRESTART], state, e);
	if (r == 0)
		r = hooks_run(&b->hooks[HOOK_CREATE_RUNTIME], state, e);
	return r < 0 ? r : channel_send(c->channel, NOTE_HOOKED, -1, e);
}

static int send_terminal(struct container *c, struct err *e)
{
	if (c->terminal < 0)
		return err_set(e, EPROTO, "the container has sent no terminal");
	return bundle_send_terminal(c->bundle->console_socket, c->terminal, e);
}

/* Under another name first: an engine that waits for the file must not read half of it. */
static int write_pid_file(struct container *c, struct err *e)
{
	autofree char *fresh = NULL;
	autoclose int fd = -1;
	char text[16];
	int length = snprintf(text, sizeof text, "%d", c->pid);

	if (c->bundle->pid_file == NULL)
		return 0;
	if (asprintf(&fresh, "%s.%d", c->bundle->pid_file, getpid()) < 0)
		return err_set(e, ENOMEM, "cannot write the pid file");
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)length) != length ||
	    rename(fresh, c->bundle->pid_file) < 0) {
		(void)err_set(e, errno, "cannot write the pid file %s", c->bundle->pid_file);
		(void)unlink(fresh);
		return -e->code;
	}
	return 0;
}

static int keep_state(struct container *c, struct err *e)
{
	const struct bundle_keeper *k = c->bundle->keeper;

	return k->keep(k->arg, c->pid, &c->bundle->cgroups, e);
}

static int wait_for_exec(struct container *c, struct err *e)
{
	return channel_expect(c->channel, NOTE_END_OF_FILE, NULL, e);
}

static const struct step host_steps[] = {
	{ "cgroups", "the limits hold from the first moment", NULL, make_cgroups },
	{ "open namespaces", "their paths are the host's, inside they mean nothing", wants_any_join,
	  rows_open_namespaces },
	{ "open sources", "those that cannot be opened from inside", bundle_wants_mounts,
	  open_sources },
	{ "listen", "by this socket the container will be started", NULL, listen_for_start },
	{ "channel", "the two processes talk from the first moment", NULL, rows_open_channel },
	{ "seccomp agent", "its socket cannot be reached from inside", bundle_wants_early_agent,
	  bundle_connect_agent },
	{ "open cgroups", "the child moves by itself, into v2 it is born", NULL, open_cgroups },
	{ "clone", "joins first, then creates all but time and cgroup", NULL, clone_container },
	{ "enter cgroup v2", "a helper clones, whom the tree may be closed to", wants_any_join,
	  attach_to_unified },
	{ "write id maps", "only a process outside may map more than itself", wants_user_namespace,
	  rows_write_id_maps },
	{ "map mounts", "by user namespaces that have their maps", bundle_wants_mapped_mounts,
	  bundle_map_mounts },
	{ "limit process", "only a process outside may raise limits", NULL, limit_process },
	{ "mapped", "lets the child go on", NULL, bundle_send_mapped },
	{ "runtime hooks", "the child has mounted, and not yet changed its root",
	  bundle_wants_host_hooks, run_runtime_hooks },
	{ "set-up", "the child works through its own table", NULL, rows_wait_for_ready },
	{ "console", "the engine keeps our end of the terminal", wants_terminal, send_terminal },
	{ "timeline", "time is reserved before the program can read a clock", wants_timeline,
	  bundle_keep_timeline },
	{ "state", "who starts or deletes the container must find it", NULL, keep_state },
	{ "pid file", "the engine takes it as: all is done", NULL, write_pid_file },
	{ "let go", "from now on the child lives without us", NULL, rows_send_start },
};

static const struct step exec_steps[] = {
	{ "open namespaces", "those of the running container", wants_any_join,
	  rows_open_namespaces },
	{ "channel", "the two processes talk from the first moment", NULL, rows_open_channel },
	{ "seccomp agent", "its socket cannot be reached from inside", bundle_wants_agent,
	  bundle_connect_agent },
	{ "open cgroups", "the child moves by itself", NULL, open_cgroups },
	{ "clone", "inside the container", NULL, clone_visitor },
	{ "enter cgroup v2", "its limits are ours", wants_any_join, attach_to_unified },
	{ "limit process", "only a process outside may raise limits", NULL, limit_process },
	{ "mapped", "lets the child go on", NULL, bundle_send_mapped },
	{ "set-up", "the child works through its own table", NULL, rows_wait_for_ready },
	{ "console", "the engine keeps our end of the terminal", wants_terminal, send_terminal },
	{ "pid file", "the engine waits for it", NULL, write_pid_file },
	{ "start", "nothing is left to prepare", NULL, rows_send_start },
	{ "exec", "end of file means that exec worked", NULL, wait_for_exec },
};

const struct plan bundle_host_plan = { host_steps, sizeof host_steps / sizeof *host_steps };
const struct plan exec_host_plan = { exec_steps, sizeof exec_steps / sizeof *exec_steps };

static struct container new_container(const struct container_spec *spec, struct bundle_run *run)
{
	struct container c = {
		.spec = spec,
		.channel = -1,
		.child_channel = -1,
		.root = -1,
		.terminal = -1,
		.name_lock = -1,
		.bundle = run,
	};

	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		c.join[k] = -1;
	run->listener = run->agent = run->agent_state = -1;
	return c;
}

/* What the failed plan has made is undone here, in the reverse order of the table. */
static void undo(struct container *c)
{
	if (c->pid > 0) {
		(void)kill(c->pid, SIGKILL); /* it may have ended by itself */
		while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
			;
	}
	(void)unlinkat(c->bundle->folder, "start", 0); /* may not be there */
}

int bundle_create(const struct container_spec *spec, struct bundle_run *run, pid_t *ret_pid,
		  struct err *e)
{
	struct container c = new_container(spec, run);
	struct err ignored; /* the first failure is the one to tell */
	int r = plan_run(&bundle_host_plan, &c, e);

	*ret_pid = c.pid;
	if (r < 0) {
		undo(&c);
		(void)cgroup_set_remove(&run->cgroups, &ignored);
	}
	return r;
}

int bundle_wait(pid_t pid, int *ret_status, struct err *e)
{
	autoclose int signals = -1;
	sigset_t all;

	(void)sigfillset(&all); /* cannot fail */
	if (sigprocmask(SIG_BLOCK, &all, NULL) < 0)
		return err_set(e, errno, "cannot block signals");
	signals = signalfd(-1, &all, SFD_CLOEXEC);
	if (signals < 0)
		return err_set(e, errno, "cannot open signals as a file");
	while (waitpid(pid, ret_status, WNOHANG) != pid) {
		struct signalfd_siginfo s;

		if (read(signals, &s, sizeof s) == sizeof s && s.ssi_signo != SIGCHLD)
			(void)kill(pid, (int)s.ssi_signo); /* it may just have ended */
	}
	return 0;
}

int bundle_exec(const struct container_spec *spec, struct bundle_run *run, int *ret_status,
		struct err *e)
{
	struct container c = new_container(spec, run);
	int r = plan_run(&exec_host_plan, &c, e);

	if (r < 0 && c.pid > 0) {
		(void)kill(c.pid, SIGKILL); /* it may have ended by itself */
		while (waitpid(c.pid, ret_status, 0) < 0 && errno == EINTR)
			;
	}
	if (r < 0 || run->detached)
		return r;
	return bundle_wait(c.pid, ret_status, e);
}
