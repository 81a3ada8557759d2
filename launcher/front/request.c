/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "front/clock_options.h"
#include "front/contradictions.h"
#include "front/environment.h"
#include "front/identity.h"
#include "front/image_config.h"
#include "front/libraries.h"
#include "front/options.h"
#include "front/seccomp_default.h"
#include "front/seccomp_profile.h"

static const struct option_row *find_option(const char *word, size_t length)
{
	for (size_t i = 0; i < option_count; i++)
		if (strlen(options[i].name) == length && memcmp(options[i].name, word, length) == 0)
			return &options[i];
	return NULL;
}

/* Unset variables of a script make empty paths, and those would mean the working directory. */
static bool takes_path(const struct option_row *o)
{
	static const char *const paths[] = { "FILE", "DIR", "PATH", "SRC", "DST" };

	for (size_t i = 0; o->argument != NULL && i < sizeof paths / sizeof *paths; i++)
		if (strncmp(o->argument, paths[i], strlen(paths[i])) == 0)
			return true;
	return false;
}

/* One option and its value.  *at is the word; it is moved to the last word used. */
static int note_option(struct request *q, char ***at, struct err *e)
{
	char *word = **at, *name = word + 2, *value = strchr(name, '=');
	size_t length = value != NULL ? (size_t)(value - name) : strlen(name);
	const struct option_row *o = find_option(name, length);
	int r;

	if (word[1] != '-' || o == NULL) {
		(void)err_set(e, EINVAL, "unknown option '%s'", word);
		return err_hint(e, "timens-run --help lists all options");
	}
	if (o->argument == NULL && value != NULL)
		return err_set(e, EINVAL, "--%s takes no value", o->name);
	if (o->argument != NULL && value != NULL)
		value++;
	else if (o->argument != NULL)
		value = *++*at;
	if (o->argument != NULL && value == NULL)
		return err_set(e, EINVAL, "--%s needs %s", o->name, o->argument);
	if (value != NULL && *value == '\0' && takes_path(o))
		return err_set(e, EINVAL, "--%s must not be empty", o->name);
	if (o->note == NULL && value != NULL)
		*(char **)((char *)q + o->field) = value;
	else if (o->note == NULL)
		*(bool *)((char *)q + o->field) = true;
	r = o->note != NULL ? o->note(q, value, e) : 0;
	if (r < 0 && e->step[0] == '\0')
		snprintf(e->step, sizeof e->step, "--%s", o->name);
	return r;
}

static int keep_words(struct request *q, char **argv, size_t count, struct err *e)
{
	size_t size = (count + 2) * sizeof *q->words;
	char *copy;

	for (size_t i = 0; i < count; i++)
		size += strlen(argv[i]) + 1;
	q->words = malloc(size);
	if (q->words == NULL)
		return err_set(e, ENOMEM, "cannot keep the command line");
	copy = (char *)(q->words + count + 2); /* behind the pointers, in the same block */
	q->words[0] = (char *)"timens-run";
	for (size_t i = 0; i < count; i++) {
		q->words[1 + i] = copy;
		copy = stpcpy(copy, argv[i]) + 1;
	}
	q->words[1 + count] = NULL;
	return 0;
}

int request_parse(struct request *q, char **argv, struct err *e)
{
	size_t words = 0;

	while (argv[words] != NULL)
		words++;
	if (keep_words(q, argv, words, e) < 0)
		return -e->code;
	/* No option adds more than one of either. */
	q->spec.mounts = calloc(words + 1 + MOUNT_DEFAULTS_MAX, sizeof *q->spec.mounts);
	q->env = calloc(words + 1, sizeof *q->env);
	if (q->spec.mounts == NULL || q->env == NULL)
		return err_set(e, ENOMEM, "cannot keep the command line");
	q->root = -1;
	q->spec.info_fd = q->spec.sync_fd = q->spec.kill_timeout_ms = -1;
	q->spec.oom_score_adj = KEEP_OOM_SCORE;

	for (; *argv != NULL && (*argv)[0] == '-' && (*argv)[1] != '\0'; argv++) {
		int r;

		if (strcmp(*argv, "--") == 0) {
			argv++;
			break;
		}
		if (strcmp(*argv, "-h") == 0)
			*argv = (char *)"--help";
		r = note_option(q, &argv, e);
		if (r < 0)
			return r;
		if (q->help || q->version || q->answer != NULL)
			return 0;
	}
	if (q->check)
		return 0;
	if (q->json)
		return err_set(e, EINVAL, "--json without --check");
	if (q->only == 0) {
		if (*argv == NULL) {
			(void)err_set(e, EINVAL, "no ROOTFS");
			return err_hint(e, "timens-run [OPTIONS] ROOTFS COMMAND [ARG...]");
		}
		q->spec.root = *argv++;
	}
	q->spec.argv = argv;
	return 0;
}

/* Which namespaces are new: all eight, less those shared or joined, or those of --only. */
static int choose_namespaces(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;

	if (q->net != NULL && strcmp(q->net, "host") == 0)
		q->share |= CLONE_NEWNET;
	else if (q->net != NULL && strcmp(q->net, "pasta") == 0)
		s->net = NET_PASTA;
	else if (q->net != NULL && strcmp(q->net, "none") != 0)
		return err_set(e, EINVAL, "--net '%s' is none of none, host and pasta", q->net);
	for (enum namespace_kind k = 0; k < NS_COUNT; k++) {
		uint32_t flag = namespaces[k].flag;

		if (q->only != 0 ? q->only & flag : !(q->share & flag) && !s->join[k])
			s->new_namespaces |= flag;
	}
	return 0;
}

static int open_root(struct request *q, struct err *e)
{
	static char path[PATH_MAX];
	struct container_spec *s = &q->spec;

	if (s->root == NULL)
		return 0;
	/* Who asks for nothing beside it does not need its full path. */
	if (s->overlay_dir == NULL && s->argv[0] != NULL)
		path[0] = '\0';
	else if (realpath(s->root, path) == NULL)
		return err_set(e, errno, "cannot open the root filesystem '%s'", s->root);
	q->root = open(s->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (q->root < 0)
		return err_set(e, errno, "cannot open the root filesystem '%s'", s->root);
	if (path[0] != '\0')
		s->root = path;
	return 0;
}

static void add_default_mounts(struct container_spec *s)
{
	struct mount defaults[MOUNT_DEFAULTS_MAX];
	size_t count = mount_defaults(s, defaults);

	memmove(s->mounts + count, s->mounts, s->mount_count * sizeof *s->mounts);
	memcpy(s->mounts, defaults, count * sizeof *s->mounts);
	s->mount_count += count;
}

/* No command: the one that came with the image. */
static int choose_command(struct request *q, struct err *e)
{
	if (q->spec.argv[0] != NULL)
		return 0;
	if (q->root >= 0) {
		int r = libraries_need(q->words, e);

		return r < 0 ? r : image_config_apply(q, e);
	}
	(void)err_set(e, EINVAL, "no COMMAND");
	return err_hint(e, "timens-run [OPTIONS] --only NS,... [--] COMMAND [ARG...]");
}

/* The default filter is bytes in the program; all others are compiled now. */
static int choose_filter(struct request *q, struct err *e)
{
	static struct seccomp_filter compiled; /* lives as long as the process, like argv */
	struct container_spec *s = &q->spec;
	int r = 0;

	/* --only adds namespaces to the caller and takes nothing away unasked. */
	if (q->unconfined || (q->only != 0 && q->profile == NULL && !q->default_filter))
		return 0;
	s->filter = q->profile == NULL && q->cap_add == 0 ? &seccomp_default_filter : &compiled;
	if (s->filter == &compiled)
		r = libraries_need(q->words, e);
	if (r == 0 && q->profile != NULL)
		r = seccomp_profile_load(q->profile, s->capabilities, &compiled, e);
	else if (r == 0 && q->cap_add != 0)
		r = seccomp_profile_compile(
			seccomp_default_profile, strlen(seccomp_default_profile),
			&(struct profile_facts){ .capabilities = s->capabilities }, &compiled, e);
	if (r < 0)
		snprintf(e->step, sizeof e->step, "--seccomp");
	return r;
}

int request_finish(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	int r = choose_namespaces(q, e);

	if (r == 0)
		r = open_root(q, e);
	if (r == 0)
		r = contradictions_refuse(q, e);
	if (r == 0)
		r = choose_command(q, e);
	if (r == 0)
		r = identity_complete(q, e);
	if (r == 0)
		r = choose_filter(q, e);
	if (r == 0)
		r = environment_complete(q, e);
	if (r < 0)
		return r;
	add_default_mounts(s);
	if (q->overlay && s->overlay == OVERLAY_NONE)
		s->overlay = OVERLAY_VANISHES;
	if (s->root != NULL && s->workdir == NULL)
		s->workdir = "/";
	if (s->hostname == NULL && creates(s, CLONE_NEWUTS))
		s->hostname = s->name;
	s->no_new_privs = true;
	s->init = creates(s, CLONE_NEWPID) && !q->no_init;
	return clock_options_finish(q, e);
}

void request_print_help(void)
{
	const char *group = "";
	int column = 0;

	fputs("usage: timens-run [OPTIONS] ROOTFS [COMMAND [ARG...]]\n"
	      "       timens-run [OPTIONS] --only NS[,NS...] [--] COMMAND [ARG...]\n"
	      "Runs a command in a container with its own CLOCK_MONOTONIC and CLOCK_BOOTTIME.\n",
	      stdout);
	for (const struct option_row *o = options; o < options + option_count; o++) {
		int width = (int)(strlen(o->name) + (o->argument ? strlen(o->argument) + 1 : 0));

		if (strcmp(group, o->group) != 0)
			column = printf("\n%-10s", group = o->group) - 1;
		else if (column + width + 4 > 80)
			column = printf("\n%-10s", "") - 1;
		column += printf("  --%s%s%s", o->name, o->argument ? " " : "",
				 o->argument ? o->argument : "");
	}
	puts("\n\nD: +3600, -30, 1.5, 1h30m, P1DT2H.  "
	     "NS: cgroup ipc mnt net pid time user uts.\nAll else is in timens-run(1).");
}
