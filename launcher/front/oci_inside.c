/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_inside.c - exec: one more process in a running container */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/bundle.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/state.h"
#include "model/capability.h"

enum { PROCESS_MAX = 4 << 20 };

/* Every kind in which the container differs from us is entered, the time namespace among them. */
static int choose_namespaces(pid_t pid, struct container_spec *spec, struct err *e)
{
	static char paths[NS_COUNT][64];

	spec->new_namespaces = 0;
	for (enum namespace_kind k = 0; k < NS_COUNT; k++) {
		struct stat theirs, ours;
		char own[64];

		snprintf(paths[k], sizeof paths[k], "/proc/%d/ns/%s", pid, namespaces[k].name);
		snprintf(own, sizeof own, "/proc/self/ns/%s", namespaces[k].name);
		spec->join[k] = NULL;
		if (stat(own, &ours) < 0)
			continue; /* this kernel has no such kind */
		if (stat(paths[k], &theirs) < 0)
			return err_set(e, errno, "cannot look at %s", paths[k]);
		if (theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev)
			spec->join[k] = paths[k];
	}
	return 0;
}

static int read_process_file(const char *path, struct oci_config *c, struct err *e)
{
	char *text = malloc(PROCESS_MAX); /* lives on in the spec */
	struct json *document;

	if (text == NULL)
		return err_set(e, ENOMEM, "cannot read %s", path);
	if (file_read(path, text, PROCESS_MAX, e) < 0 ||
	    doc_parse(text, strlen(text), path, &document, e) < 0)
		return -e->code;
	c->spec.argv = c->spec.env = NULL;
	c->spec.workdir = NULL;
	c->spec.terminal = c->spec.no_new_privs = false;
	c->spec.rlimit_count = 0;
	return oci_process_read(document, c, e);
}

static int set_user(const char *text, struct container_spec *spec, struct err *e)
{
	autofree char *copy = strdup(text);
	char *rest = copy, *word = copy != NULL ? text_next_field(&rest, ':') : NULL;
	uint64_t uid, gid = spec->gid;

	if (word == NULL || !text_to_number(word, UINT32_MAX - 1, &uid) ||
	    (rest != NULL && !text_to_number(rest, UINT32_MAX - 1, &gid)))
		return err_set(e, EINVAL, "--user '%s' is not UID or UID:GID", text);
	spec->uid = (uint32_t)uid;
	spec->gid = (uint32_t)gid;
	spec->group_count = 0;
	return 0;
}

static int add_groups(const struct oci_call *call, struct container_spec *spec, struct err *e)
{
	for (size_t i = 0; i < call->group_count; i++) {
		uint64_t gid;

		if (!text_to_number(call->groups[i], UINT32_MAX - 1, &gid))
			return err_set(e, EINVAL, "--additional-gids '%s' is no id",
				       call->groups[i]);
		if (spec->group_count == GROUPS_MAX)
			return err_set(e, ENOTSUP, "more than %d groups", GROUPS_MAX);
		spec->group_list[spec->group_count++] = (uint32_t)gid;
	}
	return 0;
}

static int add_environment(const struct oci_call *call, struct container_spec *spec, struct err *e)
{
	size_t count = 0;
	char **env;

	while (spec->env[count] != NULL)
		count++;
	env = calloc(count + call->env_count + 1, sizeof *env);
	if (env == NULL)
		return err_set(e, ENOMEM, "cannot keep the environment");
	memcpy(env, spec->env, count * sizeof *env);
	for (size_t i = 0; i < call->env_count; i++) { /* in the place of what has its name */
		size_t at = 0, name = strcspn(call->env[i], "=");

		while (at < count &&
		       (strncmp(env[at], call->env[i], name) != 0 || env[at][name] != '='))
			at++;
		env[at] = (char *)(uintptr_t)call->env[i];
		count += at == count ? 1 : 0;
	}
	spec->env = env;
	return 0;
}

static int read_words(const struct oci_call *call, struct oci_config *c, struct err *e)
{
	if (call->word_count < 2)
		return err_set(e, EINVAL, "no program to run: --process FILE, or ARG... after ID");
	c->spec.argv = call->words + 1;
	c->spec.terminal = call->tty;
	if (call->cwd != NULL)
		c->spec.workdir = call->cwd;
	if ((call->user != NULL && set_user(call->user, &c->spec, e) < 0) ||
	    add_groups(call, &c->spec, e) < 0)
		return -e->code;
	c->spec.no_new_privs |= call->no_new_privs;
	for (size_t i = 0; i < call->cap_count; i++) {
		struct capability_sets *s = &c->bundle.capabilities;
		uint64_t bits;

		if (capability_parse(call->caps[i], &bits, e) < 0)
			return -e->code;
		s->bounding |= bits;
		s->permitted |= bits;
		s->effective |= bits;
	}
	return add_environment(call, &c->spec, e);
}

static int prepare(struct oci_call *call, struct state *s, struct oci_config *c, struct err *e)
{
	static const struct oci_clock_flags no_flags;
	autofree char *file = NULL;
	const char *id = NULL;
	enum state_status now = STATE_STOPPED;

	if (oci_needs_id(call, &id, e) < 0 ||
	    (call->root == NULL && state_default_root(&call->root, e) < 0) ||
	    state_open(call->root, id, false, s, e) < 0)
		return -e->code;
	now = state_status(s);
	if (now == STATE_PAUSED && !call->ignore_paused)
		return err_set(e, EBUSY, "container '%s' is paused", id);
	if (now != STATE_RUNNING && now != STATE_CREATED && now != STATE_PAUSED)
		return err_set(e, ESRCH, "container '%s' is not running", id);
	if (asprintf(&file, "%s/config.json", s->path) < 0)
		return err_set(e, ENOMEM, "cannot keep a path");
	c->cache_root = call->root;
	if (oci_config_load(file, s->bundle, &no_flags, c, e) < 0)
		return -e->code;
	c->bundle.terminal_rows = c->bundle.terminal_columns = 0;
	if ((call->process != NULL ? read_process_file(call->process, c, e)
				   : read_words(call, c, e)) < 0)
		return -e->code;
	return choose_namespaces(s->pid, &c->spec, e);
}

static char *introduce(void *arg, pid_t pid, const char *metadata)
{
	return state_introduce(arg, pid, metadata);
}

int oci_exec(struct oci_call *call, struct err *e)
{
	static struct oci_config config;
	static struct bundle_run run;
	struct state s = { .folder = -1 };
	struct bundle_keeper keeper = { .introduce = introduce, .arg = &s };
	int status = 0, r = prepare(call, &s, &config, e);

	if (r == 0)
		r = oci_run_options(call, config.spec.terminal, &run, e);
	if (r < 0)
		return r;
	run.folder = s.folder;
	run.keeper = &keeper;
	run.cgroups = s.cgroups;
	run.detached = call->detach;
	r = bundle_exec(&config.spec, &run, &status, e);
	if (r < 0 || call->detach)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
