/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_life.c - start, state, kill, delete and list */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "engine/bundle.h"
#include "engine/bundle_life.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/state.h"

enum { END_TRIES = 10000, END_PAUSE_NS = 1000 * 1000 }; /* 10 s */

static int open_container(struct oci_call *call, bool lock, struct state *s, struct err *e)
{
	const char *id = NULL;

	if (oci_needs_id(call, &id, e) < 0 ||
	    (call->root == NULL && state_default_root(&call->root, e) < 0))
		return -e->code;
	return state_open(call->root, id, lock, s, e);
}

/* The configuration that the container was created with, as far as it is needed later. */
static int load_later(const struct state *s, struct oci_config *c, struct err *e)
{
	autofree char *file = NULL;

	if (asprintf(&file, "%s/config.json", s->path) < 0)
		return err_set(e, ENOMEM, "cannot keep a path");
	return oci_config_load_later(file, c, e);
}

static void run_hooks_leniently(const struct state *s, const struct oci_config *c,
				enum hook_stage stage, const char *status)
{
	autofree char *state = state_describe(s, status, 0);
	struct err e;

	/* The specification: log a warning, and go on as if they had succeeded. */
	if (state != NULL && bundle_run_hooks(&c->bundle.hooks[stage], state, &e) < 0)
		fprintf(stderr, "timens-oci: warning: %s\n", e.text);
}

static int start(const struct state *s, struct err *e)
{
	static struct oci_config config;
	enum state_status now = state_status(s);
	int r;

	if (now != STATE_CREATED)
		return err_set(e, EBUSY, "container '%s' is %s, only a created one can be started",
			       s->id, state_word(now));
	r = load_later(s, &config, e);
	if (r == 0)
		r = bundle_start(s->folder, config.bundle.agent_path, e);
	if (r < 0)
		return r;
	(void)unlinkat(s->folder, "start", 0); /* a dead socket; delete removes it as well */
	run_hooks_leniently(s, &config, HOOK_POSTSTART, "running");
	return 0;
}

int oci_start(struct oci_call *call, struct err *e)
{
	struct state s = { .folder = -1 };
	int r = open_container(call, true, &s, e);

	if (r < 0)
		return r;
	r = start(&s, e);
	close(take_fd(&s.folder)); /* and with it the lock: run goes on to delete */
	return r;
}

int oci_state(struct oci_call *call, struct err *e)
{
	struct state s = { .folder = -1 };
	autofree char *text = NULL;
	enum state_status now;
	int r = open_container(call, false, &s, e);

	if (r < 0)
		return r;
	now = state_status(&s);
	if (now == STATE_STOPPED)
		s.pid = 0;
	text = state_describe(&s, state_word(now), 2);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot describe the state");
	fputs(text, stdout);
	return 0;
}

static int parse_signal(const char *text, int *ret, struct err *e)
{
	uint64_t number;

	if (text_to_number(text, (uint64_t)SIGRTMAX, &number)) {
		*ret = (int)number;
		return 0;
	}
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (*ret = 1; *ret < SIGRTMIN; ++*ret) {
		const char *name = sigabbrev_np(*ret);

		if (name != NULL && strcasecmp(name, text) == 0)
			return 0;
	}
	return err_set(e, EINVAL, "signal '%s' is not known", text);
}

/* By a descriptor of the process, which cannot come to mean another one. */
static int send_signal(const struct state *s, int sig, struct err *e)
{
	autoclose int process = (int)syscall(SYS_pidfd_open, s->pid, 0);

	if (process < 0 || state_start_ticks(s->pid) != s->start_ticks ||
	    syscall(SYS_pidfd_send_signal, process, sig, NULL, 0) < 0)
		return err_set(e, ESRCH, "container '%s' is not running", s->id);
	return 0;
}

static int kill_all(const struct state *s, int sig, struct err *e)
{
	autofree pid_t *pids = NULL;
	size_t count = 0;
	int r = bundle_members(&s->cgroups, &pids, &count, e);

	for (size_t i = 0; r == 0 && i < count; i++)
		(void)kill(pids[i], sig); /* it may just have ended */
	return r;
}

int oci_kill(struct oci_call *call, struct err *e)
{
	struct state s = { .folder = -1 };
	int sig = SIGTERM, r = open_container(call, false, &s, e);

	if (r == 0 && call->word_count > 1)
		r = parse_signal(call->words[1], &sig, e);
	if (r < 0)
		return r;
	if (call->all)
		return kill_all(&s, sig, e);
	if (state_status(&s) == STATE_STOPPED || s.pid == 0)
		return err_set(e, ESRCH, "container '%s' is not running", s.id);
	r = send_signal(&s, sig, e);
	/* Frozen by v1 it would not even notice a SIGKILL. */
	if (r == 0 && sig == SIGKILL && bundle_is_frozen(&s.cgroups))
		r = bundle_freeze(&s.cgroups, false, e);
	return r;
}

static int end_process(struct state *s, struct err *e)
{
	const struct timespec pause = { .tv_nsec = END_PAUSE_NS };
	struct err ignored;

	if (s->pid == 0 || state_status(s) == STATE_STOPPED)
		return 0;
	(void)send_signal(s, SIGKILL, &ignored); /* it may just have ended */
	if (bundle_is_frozen(&s->cgroups))
		(void)bundle_freeze(&s->cgroups, false, &ignored);
	for (int tries = 0; tries < END_TRIES; tries++) {
		if (state_start_ticks(s->pid) != s->start_ticks)
			return 0;
		(void)nanosleep(&pause, NULL); /* cut short, the next look comes earlier */
	}
	return err_set(e, ETIMEDOUT, "container '%s' does not end", s->id);
}

int oci_delete(struct oci_call *call, struct err *e)
{
	static struct oci_config config;
	struct state s = { .folder = -1 };
	enum state_status now;
	int r = open_container(call, true, &s, e);

	if (r == -ENOENT && call->force)
		return 0;
	if (r < 0)
		return r;
	now = state_status(&s);
	if (now != STATE_STOPPED && !call->force)
		return err_set(e, EBUSY, "container '%s' is %s, only a stopped one can be deleted",
			       s.id, state_word(now));
	r = end_process(&s, e);
	if (r == 0)
		r = bundle_remove(&s.cgroups, e);
	if (r < 0)
		return r;
	s.pid = 0;
	if (load_later(&s, &config, e) == 0) /* killed early, it may not have been kept */
		run_hooks_leniently(&s, &config, HOOK_POSTSTOP, "stopped");
	return state_remove(&s, e);
}

static void list_one(const struct oci_call *call, const struct state *s, struct json *all)
{
	enum state_status now = state_status(s);
	pid_t pid = now == STATE_STOPPED ? 0 : s->pid;
	struct json *o;

	if (call->quiet) {
		puts(s->id);
		return;
	}
	if (all == NULL) {
		printf("%-24s %-8d %-9s %-24s %s\n", s->id, pid, state_word(now),
		       s->bundle != NULL ? s->bundle : "", s->created != NULL ? s->created : "");
		return;
	}
	o = doc_new_object();
	doc_set_text(o, "id", s->id);
	doc_set_integer(o, "pid", pid);
	doc_set_text(o, "status", state_word(now));
	doc_set_text(o, "bundle", s->bundle != NULL ? s->bundle : "");
	doc_set_text(o, "created", s->created != NULL ? s->created : "");
	doc_append(all, o);
}

int oci_list(struct oci_call *call, struct err *e)
{
	bool as_json = call->format != NULL && strcmp(call->format, "json") == 0;
	struct json *all = as_json ? doc_new_array() : NULL;
	DIR *dir;

	if (call->root == NULL && state_default_root(&call->root, e) < 0)
		return -e->code;
	if (call->format != NULL && !as_json && strcmp(call->format, "table") != 0)
		return err_set(e, ENOTSUP, "--format %s is not supported", call->format);
	if (!as_json && !call->quiet)
		printf("%-24s %-8s %-9s %-24s %s\n", "ID", "PID", "STATUS", "BUNDLE", "CREATED");
	dir = opendir(call->root);
	for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
		struct state s = { .folder = -1 };
		struct err ignored; /* deleted between two looks, or no container at all */

		if (d->d_name[0] == '.')
			continue;
		if (state_open(call->root, d->d_name, false, &s, &ignored) == 0)
			list_one(call, &s, all);
		if (s.folder >= 0)
			close(s.folder);
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (as_json) {
		autofree char *text = doc_format(all, 0);

		fputs(text != NULL ? text : "[]\n", stdout);
	}
	return 0;
}
