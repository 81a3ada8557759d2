/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_create.c - create and run */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "engine/bundle.h"
#include "engine/bundle_life.h"
#include "front/oci_commands.h"
#include "front/oci_timeline.h"
#include "front/state.h"
#include "model/check.h"

int oci_needs_id(const struct oci_call *call, const char **ret_id, struct err *e)
{
	if (call->word_count == 0)
		return err_set(e, EINVAL, "no container id");
	*ret_id = call->words[0];
	return 0;
}

static int keep(void *arg, pid_t pid, const struct cgroup_set *cgroups, struct err *e)
{
	struct state *s = arg;

	s->pid = pid;
	s->start_ticks = state_start_ticks(pid);
	s->cgroups = *cgroups;
	return state_write(s, e);
}

static char *describe(void *arg, pid_t pid, const char *status)
{
	struct state now = *(struct state *)arg;

	now.pid = pid;
	return state_describe(&now, status, 0);
}

static char *introduce(void *arg, pid_t pid, const char *metadata)
{
	return state_introduce(arg, pid, metadata);
}

int oci_run_options(const struct oci_call *call, bool terminal, struct bundle_run *run,
		    struct err *e)
{
	uint64_t preserved = 0;
	const char *listen_fds = getenv("LISTEN_FDS");

	run->console_socket = -1;
	run->pid_file = call->pid_file;
	run->unprivileged = state_is_rootless();
	run->with_cgroups = true;
	run->no_pivot = call->no_pivot;
	run->no_keyring = call->no_new_keyring;
	if (call->cgroup_manager != NULL && strcmp(call->cgroup_manager, "cgroupfs") != 0) {
		if (strcmp(call->cgroup_manager, "disabled") != 0)
			return err_set(e, ENOTSUP,
				       "--cgroup-manager %s is not supported: cgroupfs "
				       "and disabled are",
				       call->cgroup_manager);
		run->with_cgroups = false;
	}
	if (call->preserve_fds != NULL && !text_to_number(call->preserve_fds, 1000, &preserved))
		return err_set(e, EINVAL, "--preserve-fds %s is no number up to 1000",
			       call->preserve_fds);
	if (call->preserve_fds == NULL && listen_fds != NULL &&
	    !text_to_number(listen_fds, 1000, &preserved))
		preserved = 0; /* not meant for us */
	run->preserve_fds = (unsigned int)preserved;
	if (terminal && call->console_socket == NULL)
		return err_set(e, EINVAL, "a terminal needs --console-socket");
	if (!terminal && call->console_socket != NULL)
		return err_set(e, EINVAL, "--console-socket without a terminal");
	return terminal ? bundle_connect_to(call->console_socket, "console socket",
					    &run->console_socket, e)
			: 0;
}

static int bundle_folder(const struct oci_call *call, const char **ret, struct err *e)
{
	const char *given = call->bundle != NULL ? call->bundle : ".";

	*ret = realpath(given, NULL);
	return *ret != NULL ? 0 : err_set(e, errno, "cannot open the bundle %s", given);
}

static int load(const struct oci_call *call, const char *folder, struct oci_config *c,
		struct err *e)
{
	autofree char *file = NULL;
	int r;

	if (call->config != NULL)
		file = strdup(call->config);
	else if (asprintf(&file, "%s/config.json", folder) < 0)
		file = NULL;
	if (file == NULL)
		return err_set(e, ENOMEM, "cannot keep the path of the bundle");
	c->cache_root = call->root;
	r = oci_config_load(file, folder, &call->clocks, c, e);
	if (r < 0 && e->step[0] == '\0')
		snprintf(e->step, sizeof e->step, "config.json");
	return r < 0 ? r : spec_check(&c->spec, e);
}

/* create, as far as run has it too. */
static int make(struct oci_call *call, struct state *s, pid_t *ret_pid, struct err *e)
{
	static struct oci_config config;
	static struct bundle_run run;
	static struct bundle_keeper keeper = { .keep = keep,
					       .describe = describe,
					       .introduce = introduce };
	const char *id = NULL, *folder = NULL;
	struct err ignored; /* the first failure is the one to tell */
	int r;

	if (oci_needs_id(call, &id, e) < 0 || bundle_folder(call, &folder, e) < 0 ||
	    (call->root == NULL && state_default_root(&call->root, e) < 0) ||
	    load(call, folder, &config, e) < 0 ||
	    oci_run_options(call, config.spec.terminal, &run, e) < 0)
		return -e->code;
	if (call->word_count > 1)
		return err_set(e, EINVAL, "a word too many: '%s'", call->words[1]);
	r = oci_timeline_open(call, &config, e);
	if (r == 0)
		r = state_create(call->root, id, s, e);
	if (r < 0)
		return r;
	if (config.filter_key.bytes != NULL)
		filter_cache_keep(call->root, &config.filter_key, &config.filter);
	s->bundle = folder;
	s->version = config.version;
	s->annotations = config.annotations;
	config.bundle.id = id;
	run.folder = s->folder;
	keeper.arg = s;
	run.keeper = &keeper;
	r = state_write_config(s, config.text, config.length, e);
	if (r == 0)
		r = bundle_create(&config.spec, &run, ret_pid, e);
	if (r < 0) {
		autofree char *state = describe(s, 0, "stopped");

		if (state != NULL && s->document == NULL)
			(void)bundle_run_hooks(&config.bundle.hooks[HOOK_POSTSTOP], state,
					       &ignored);
		(void)state_remove(s, &ignored);
	}
	return r;
}

int oci_create(struct oci_call *call, struct err *e)
{
	static struct state s;
	pid_t pid = 0;

	return make(call, &s, &pid, e);
}

int oci_run(struct oci_call *call, struct err *e)
{
	static struct state s;
	struct oci_call later = *call;
	struct err ignored; /* the first failure is the one to tell */
	int status = 0, r;
	pid_t pid = 0;

	r = make(call, &s, &pid, e);
	if (r < 0)
		return r;
	later.root = call->root;
	later.force = true;
	close(take_fd(&s.folder)); /* and with it the lock */
	r = oci_start(&later, e);
	if (r < 0) {
		(void)oci_delete(&later, &ignored);
		return r;
	}
	if (call->detach)
		return 0;
	r = bundle_wait(pid, &status, e);
	if (!call->keep)
		(void)oci_delete(&later, &ignored);
	return r < 0 ? r : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
