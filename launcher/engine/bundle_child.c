/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_child.c - the order inside a bundle's namespaces; the tables are at the end */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "engine/bundle.h"
#include "engine/bundle_wants.h"
#include "engine/channel.h"
#include "engine/rows.h"
#include "engine/wants.h"
#include "model/bundle.h"
#include "model/container_spec.h"
#include "steps/bundle_devices.h"
#include "steps/bundle_protect.h"
#include "steps/hooks.h"
#include "steps/namespaces.h"
#include "steps/payload.h"
#include "steps/privileges.h"
#include "steps/rootfs.h"

enum { EXIT_NOT_STARTED = 125, FIRST_FD = 3 };

static int enter_cgroups(struct container *c, struct err *e)
{
	struct bundle_run *b = c->bundle;
	int r = cgroup_set_enter(&b->cgroups, b->entries, e);

	cgroup_set_close_entries(&b->cgroups, b->entries);
	return r;
}

static int become_root(struct container *c, struct err *e)
{
	(void)c;
	/* EINVAL: id 0 is not mapped; the payload then runs as whoever is. */
	return privileges_become_root(e) < 0 && e->code != EINVAL ? -e->code : 0;
}

static int set_names(struct container *c, struct err *e)
{
	const char *domain = c->spec->bundle->domainname;

	if (domain != NULL && setdomainname(domain, strlen(domain)) < 0)
		return err_set(e, errno, "cannot set the domain name '%s'", domain);
	return c->spec->hostname != NULL ? namespaces_set_hostname(c->spec->hostname, e) : 0;
}

static int set_sysctls(struct container *c, struct err *e)
{
	const struct bundle *b = c->spec->bundle;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->sysctl_count; i++) {
		char path[256];

		snprintf(path, sizeof path, "/proc/sys/%s", b->sysctls[i].key);
		for (char *p = path + sizeof "/proc/sys/" - 1; *p != '\0'; p++)
			if (*p == '.')
				*p = '/';
		r = file_write(path, b->sysctls[i].value, strlen(b->sysctls[i].value), e);
	}
	return r;
}

static int leave_peers(struct container *c, struct err *e)
{
	(void)c;
	/* Slave: what the host mounts later may come in, as volumes of engines expect; nothing
	 * goes out.  A volume that shall be shared was opened on the host's side. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_set(e, errno, "cannot cut our mounts off from the host's");
	return 0;
}

static int attach_root(struct container *c, struct err *e)
{
	int r = rootfs_open(c->spec->root, &c->root, e);

	return r < 0 ? r : rootfs_attach(c->root, c->spec->root, false, e);
}

static int make_mounts(struct container *c, struct err *e)
{
	const struct bundle_run *b = c->bundle;

	return bundle_mounts_make(c->root, c->spec->bundle, b->trees, b->views, b->view_count, e);
}

static int make_devices(struct container *c, struct err *e)
{
	return bundle_devices_make(c->root, c->spec->bundle, e);
}

static int call_host_hooks(struct container *c, struct err *e)
{
	int r = channel_send(c->channel, NOTE_MOUNTED, -1, e);

	return r < 0 ? r : channel_expect(c->channel, NOTE_HOOKED, NULL, e);
}

static int run_hooks(struct container *c, enum hook_stage stage, const char *status, struct err *e)
{
	const struct bundle_keeper *k = c->bundle->keeper;
	autofree char *state = k->describe(k->arg, getpid(), status);

	if (state == NULL)
		return err_set(e, ENOMEM, "cannot describe the state for the hooks");
	return hooks_run(&c->spec->bundle->hooks[stage], state, e);
}

static int run_container_hooks(struct container *c, struct err *e)
{
	return run_hooks(c, HOOK_CREATE_CONTAINER, "created", e);
}

static int run_start_hooks(struct container *c, struct err *e)
{
	return run_hooks(c, HOOK_START_CONTAINER, "created", e);
}

static int open_terminal(struct container *c, struct err *e)
{
	if (c->root < 0) /* exec: we are in the root already */
		c->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return bundle_terminal_open(c->root, c->spec->bundle, &c->terminal, e);
}

static int protect_paths(struct container *c, struct err *e)
{
	return bundle_protect(c->root, c->spec->bundle, e);
}

static bool wants_sealed_mounts(const struct container_spec *s)
{
	return bundle_mounts_want_seal(s->bundle);
}

static int seal_mounts(struct container *c, struct err *e)
{
	return bundle_mounts_seal(c->spec->bundle, c->bundle->trees, e);
}

static int enter_root(struct container *c, struct err *e)
{
	return c->bundle->no_pivot ? rootfs_enter_without_pivot(c->root, e)
				   : rootfs_enter(c->root, e);
}

/* What the engine's session may read of keys, the container must not. */
static int make_keyring(struct container *c, struct err *e)
{
	if (c->bundle->no_keyring || syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 ||
	    errno == ENOSYS)
		return 0;
	(void)err_set(e, errno, "cannot make a session keyring");
	return err_hint(e, "a limit of keys (/proc/sys/kernel/keys) or a filter around us: "
			   "--no-new-keyring keeps the caller's");
}

static int set_propagation(struct container *c, struct err *e)
{
	if (mount(NULL, "/", NULL, c->spec->bundle->root_propagation, NULL) < 0)
		return err_set(e, errno, "cannot set the propagation of the root");
	return 0;
}

static int hide_from_inside(struct container *c, struct err *e)
{
	const struct bundle_run *b = c->bundle;
	unsigned int first = FIRST_FD + b->preserve_fds;

	/* Now, as a filter may forbid it later.  None that leads to the host may be left when the
	 * working directory is entered: it may be named /proc/self/fd/N (CVE-2024-21626).  The kept ones
	 * are no folders, and close-on-exec from birth. */
	file_close_others(first,
			  (int[]){ c->channel, c->terminal, b->listener, b->agent, b->agent_state },
			  5);
	/* Whoever shares a pid namespace with us could otherwise look into our descriptors. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot hide from other processes");
	return 0;
}

static int place_before(struct container *c, struct err *e)
{
	return payload_place(c->spec->bundle->exec_cpus_before, e);
}

static int place(struct container *c, struct err *e)
{
	return payload_place(c->spec->bundle->exec_cpus, e);
}

static int tune(struct container *c, struct err *e)
{
	return payload_tune(c->spec->bundle, e);
}

static int bound_capabilities(struct container *c, struct err *e)
{
	return privileges_bound(c->spec->bundle->capabilities.bounding, e);
}

static int set_ids(struct container *c, struct err *e)
{
	return payload_set_ids(c->spec, e);
}

static int limit_capabilities(struct container *c, struct err *e)
{
	return payload_set_capabilities(&c->spec->bundle->capabilities, e);
}

static int find_program(struct container *c, struct err *e)
{
	return payload_find(c->spec, &c->bundle->program, &c->bundle->env, e);
}

static int report_ready(struct container *c, struct err *e)
{
	int r = channel_send(c->channel, NOTE_READY, c->terminal, e);

	if (c->terminal >= 0)
		close(take_fd(&c->terminal));
	/* START says that the state is kept: from now on others know us. */
	return r < 0 ? r : channel_expect(c->channel, NOTE_START, NULL, e);
}

static int exec_program(struct container *c, struct err *e)
{
	if (c->spec->argv[0] == NULL)
		return err_set(e, EINVAL, "'process' is missing: there is no program to start");
	execve(c->bundle->program, c->spec->argv, c->bundle->env);
	return err_set(e, errno, "exec: \"%s\": cannot execute", c->bundle->program);
}

_Noreturn void bundle_be_child(const struct plan *plan, struct container *c, struct err *e)
{
	close(take_fd(&c->channel)); /* or we would never see the host die */
	if (c->bundle->folder >= 0)
		close(take_fd(&c->bundle->folder)); /* or we would hold the lock with the host */
	c->channel = take_fd(&c->child_channel);
	c->at = NULL;
	(void)plan_run(plan, c, e); /* returns only when it failed */
	channel_send_failure(c->channel, e);
	_exit(EXIT_NOT_STARTED);
}

static const struct step child_steps[] = {
	{ "enter cgroups", "before the cgroup namespace takes them for its roots", NULL,
	  enter_cgroups },
	{ "id maps", "before them we are nobody inside", NULL, bundle_wait_for_maps },
	{ "root inside", "owns the namespaces made below", bundle_changes_user, become_root },
	{ "session", "no terminal of the host can be typed into from inside", NULL,
	  rows_make_session },
	{ "keyring", "belongs to whom we are inside", NULL, make_keyring },
	{ "cgroup namespace", "shows the cgroup that we are in by now as its root",
	  wants_cgroup_namespace, rows_make_cgroup_namespace },
	{ "time namespace", "offsets freeze once it has a member", wants_time_namespace,
	  rows_shift_clocks },
	{ "names", "the new uts namespace is ours to name", bundle_wants_names, set_names },
	{ "loopback", "a new network namespace has lo, but down", wants_loopback,
	  rows_bring_loopback_up },
	{ "sysctls", "while the host's /proc/sys can still be written", bundle_wants_sysctls,
	  set_sysctls },
	{ "propagation", "else our mounts would appear on the host", wants_private_mounts,
	  leave_peers },
	{ "root filesystem", "becomes a mount, as pivot_root demands", NULL, attach_root },
	{ "mounts", "while the host's files can still be seen", NULL, make_mounts },
	{ "devices", "into the /dev just mounted", NULL, make_devices },
	{ "runtime hooks", "they expect the mounts, and paths of the host", bundle_wants_host_hooks,
	  call_host_hooks },
	{ "container hooks", "in our namespaces, still by paths of the host",
	  bundle_wants_container_hooks, run_container_hooks },
	{ "terminal", "from the devpts of the container", wants_terminal, open_terminal },
	{ "protect paths", "nothing is mounted on /proc and /sys after this",
	  bundle_wants_protection, protect_paths },
	{ "read-only mounts", "folders and devices have been made in them", wants_sealed_mounts,
	  seal_mounts },
	{ "pivot root", "the host's files are gone from here on", NULL, enter_root },
	{ "root propagation", "the root must not be shared while it is pivoted",
	  bundle_wants_propagation, set_propagation },
	{ "read-only root", "all mount points in it have been made", wants_sealed_root,
	  rows_seal_root },
	{ "hide", "we wait for the start, maybe long", NULL, hide_from_inside },
	/* ---- below this line privileges only shrink ------------------------------------- */
	{ "early filter", "without no_new_privs it needs a capability that goes next",
	  wants_filter_early, bundle_load_filter },
	{ "tune", "priorities need capabilities too", NULL, tune },
	{ "bounding set", "needs a capability that goes next", NULL, bound_capabilities },
	{ "ids and groups", "need capabilities too", NULL, set_ids },
	{ "working directory", "by the ids of the user, with the capabilities of the engine", NULL,
	  rows_change_directory },
	{ "capabilities", "nothing below needs one", NULL, limit_capabilities },
	{ "no new privileges", "no setuid program inside can give them back",
	  wants_no_new_privileges, rows_forbid_new_privileges },
	{ "program", "the engine wants to know now that it is missing", NULL, find_program },
	{ "ready", "all that can fail early has been done", NULL, report_ready },
	{ "start", "comes from another process, maybe much later", NULL, bundle_accept_start },
	{ "start hooks", "the last before the program", bundle_wants_start_hooks, run_start_hooks },
	{ "filter", "as late as can be: less has to be allowed", wants_filter_late,
	  bundle_load_filter },
	{ "exec", "closes the channel, which tells that it worked", NULL, exec_program },
};

static const struct step exec_steps[] = {
	{ "first processors", "those of the host, until the cgroup has its say",
	  bundle_wants_processors, place_before },
	{ "enter cgroups", "the limits of the container are ours", NULL, enter_cgroups },
	{ "processors", "the cgroup has set those that it has", bundle_wants_processors, place },
	{ "id maps", "the host has limited us by then", NULL, bundle_wait_for_maps },
	{ "root inside", "to enter as the container's own root", bundle_changes_user, become_root },
	{ "session", "no terminal of the host can be typed into from inside", NULL,
	  rows_make_session },
	{ "keyring", "belongs to whom we are inside", NULL, make_keyring },
	{ "terminal", "from the devpts of the container", wants_terminal, open_terminal },
	{ "hide", "others inside see us from now on", NULL, hide_from_inside },
	/* ---- below this line privileges only shrink ------------------------------------- */
	{ "early filter", "without no_new_privs it needs a capability that goes next",
	  wants_filter_early, bundle_load_filter },
	{ "tune", "priorities need capabilities too", NULL, tune },
	{ "bounding set", "needs a capability that goes next", NULL, bound_capabilities },
	{ "ids and groups", "need capabilities too", NULL, set_ids },
	{ "working directory", "by the ids of the user", NULL, rows_change_directory },
	{ "capabilities", "nothing below needs one", NULL, limit_capabilities },
	{ "no new privileges", "no setuid program inside can give them back",
	  wants_no_new_privileges, rows_forbid_new_privileges },
	{ "program", "in the PATH of the container", NULL, find_program },
	{ "ready", "the terminal goes to the engine", NULL, report_ready },
	{ "filter", "as late as can be: less has to be allowed", wants_filter_late,
	  bundle_load_filter },
	{ "exec", "closes the channel, which tells that it worked", NULL, exec_program },
};

const struct plan bundle_child_plan = { child_steps, sizeof child_steps / sizeof *child_steps };
const struct plan exec_child_plan = { exec_steps, sizeof exec_steps / sizeof *exec_steps };
