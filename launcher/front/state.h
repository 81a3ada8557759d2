/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.h - what is remembered of a container between two commands
 *
 * A folder for each container, ROOT/ID, with
 *   state.json   who and where; always whole: written under another name and renamed
 *   config.json  the configuration as it was when the container was created
 *   start        the socket on which a created container waits (engine/bundle_socket.c)
 * The folder itself is the lock (flock(2)) of commands that change something.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/cgroup_set.h"

struct err;
struct json;

enum state_status { STATE_CREATING, STATE_CREATED, STATE_RUNNING, STATE_PAUSED, STATE_STOPPED };

struct state {
	const char *id;
	char *path;           /* of the folder */
	int folder;           /* open and, if asked for, locked */
	pid_t pid;            /* 0: there is no process yet */
	uint64_t start_ticks; /* of the process: tells it from a later one with its number */
	const char *bundle;   /* absolute path */
	const char *version;  /* of the specification */
	const char *created;  /* RFC 3339 */
	const struct json *annotations; /* or NULL */
	struct cgroup_set cgroups;
	struct json *document;
};

/* We are not root, or root of a user namespace only, as beneath a rootless engine. */
bool state_is_rootless(void);

/* The default root, /run/timens-oci or, for users, beneath XDG_RUNTIME_DIR. */
int state_default_root(const char **ret_root, struct err *e);

/* Makes the folder and those above it, the last one for us alone. */
int state_make_folders(const char *path, struct err *e);

/* Makes the folder and locks it.  -EEXIST: there is a container with this id. */
int state_create(const char *root, const char *id, struct state *ret, struct err *e);

/* Opens and reads.  -ENOENT: there is no such container.  With `lock`, waits for others. */
int state_open(const char *root, const char *id, bool lock, struct state *ret, struct err *e);

/* Writes it; the file is always the old one or the new one. */
int state_write(const struct state *s, struct err *e);
int state_write_config(const struct state *s, const char *text, size_t length, struct err *e);

/* Removes the folder with all that is in it. */
int state_remove(const struct state *s, struct err *e);

enum state_status state_status(const struct state *s);
const char *state_word(enum state_status status);

/* The state as the specification defines it; to be freed. */
char *state_describe(const struct state *s, const char *status, unsigned int indent);

/* What the specification tells a seccomp agent of a process of the container ("Container Process
 * State"); to be freed, NULL without memory. */
char *state_introduce(const struct state *s, pid_t pid, const char *metadata);

/* The start time of a process as /proc says; 0: there is none, or it is a zombie. */
uint64_t state_start_ticks(pid_t pid);
