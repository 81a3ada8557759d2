/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* request.h - a command line as it was given, and the spec that comes of it
 *
 * Options may come in any order and some depend on others: each only notes what it says
 * (front/options.c), and request_finish() draws the conclusions (front/request.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/container_spec.h"
#include "model/timeline.h"

struct err;

struct request {
	struct container_spec spec;
	bool explain, help, version, check, json;
	int (*answer)(void); /* prints what was asked for in place of a container, returns 0 */
	const char *timeline;
	enum timeline_mode timeline_mode;
	bool timeline_mode_given;
	const char *monotonic_set_by, *boottime_set_by; /* names of options, or NULL */
	uint32_t share, only;                           /* namespace flags; only 0: not given */
	const char *user, *group, *groups, *map_users, *map_groups;
	uint64_t cap_add, cap_drop;
	bool unconfined;
	bool default_filter; /* --seccomp default: with --only, too */
	const char *profile; /* --seccomp FILE */
	const char *net;
	bool no_init, clear_env, overlay;
	char **env; /* NAME=VALUE, NAME or, with a '=' in front, a file; in the order given */
	size_t env_count;
	int root; /* the root filesystem, opened for looking things up; -1 without one */
	char *const *image_env; /* of the image's own configuration, or NULL */
	char **words;           /* a copy of the command line, as reading changes the original */
};

/* Reads the words after the program's name.  Returns 0, or -EINVAL with *e filled. */
int request_parse(struct request *q, char **argv, struct err *e);

/* Completes q->spec: namespaces, identity, environment, default mounts. */
int request_finish(struct request *q, struct err *e);

/* The usage, by groups, on standard output. */
void request_print_help(void);
