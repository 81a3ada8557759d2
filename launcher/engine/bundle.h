/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle.h - containers of OCI bundles: made by one process, started and ended by others
 *
 * The plans are tables as those of plan_host.c and plan_child.c, of the same steps; they differ
 * because an engine asks for more (hooks, devices, a cgroup in every tree, joined namespaces of
 * any kind), and because the process that makes the container does not stay with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/plan.h"
#include "steps/bundle_mounts.h"
#include "steps/cgroup_set.h"

struct bundle_keeper;
struct hook_list;

struct bundle_run {
	int folder;         /* where the state is kept */
	int console_socket; /* who gets the terminal, or -1 */
	unsigned int preserve_fds;
	const char *pid_file;
	bool with_cgroups;
	bool unprivileged;
	bool no_pivot;   /* the root of the host cannot be pivoted away from */
	bool no_keyring; /* the session keyring stays that of the engine */
	bool detached;   /* exec: do not wait for its end */
	const struct bundle_keeper *keeper;
	struct cgroup_set cgroups;

	/* between the rows */
	int *trees;
	struct cgroup_view views[CGROUP_SET_MAX];
	size_t view_count;
	int entries[CGROUP_SET_MAX]; /* into the cgroups, until the child has used them */
	int listener;
	int agent;       /* connection to who answers SCMP_ACT_NOTIFY, or -1 */
	int agent_state; /* child: a file with what the agent is told, or -1 */
	const char *program;
	char **env;
};

/* How the engine layer reaches the state file, which belongs to the front. */
struct bundle_keeper {
	/* Writes the state with the pid (0: not yet there) and the cgroups. */
	int (*keep)(void *arg, pid_t pid, const struct cgroup_set *cgroups, struct err *e);
	/* The state as hooks read it, to be freed; NULL without memory. */
	char *(*describe)(void *arg, pid_t pid, const char *status);
	/* What the seccomp agent is told of a process; same rule. */
	char *(*introduce)(void *arg, pid_t pid, const char *metadata);
	void *arg;
};

extern const struct plan bundle_host_plan, bundle_child_plan, exec_host_plan, exec_child_plan;

/* Makes the container, up to the moment before its program runs.  On failure nothing is left but
 * the state folder.  Returns 0 or -errno with *e filled. */
int bundle_create(const struct container_spec *spec, struct bundle_run *run, pid_t *ret_pid,
		  struct err *e);

/* Runs one more process in the container whose namespaces spec->join names. */
int bundle_exec(const struct container_spec *spec, struct bundle_run *run, int *ret_status,
		struct err *e);

/* Connects to the container's socket in its state folder.  Returns the fd, or -ECONNREFUSED or
 * -ENOENT if it has started already. */
int bundle_connect(int folder);

/* Lets the program of a made container run.  Returns when exec has worked.  agent: the path of the
 * seccomp agent's socket, or NULL. */
int bundle_start(int folder, const char *agent, struct err *e);

/* Connects to a socket of an engine; `what` is for the message. */
int bundle_connect_to(const char *path, const char *what, int *ret, struct err *e);

/* Waits for the process, which must be our child, and forwards signals to it meanwhile. */
int bundle_wait(pid_t pid, int *ret_status, struct err *e);

/* For the tables. */
int bundle_listen(int folder, int *ret_listener, struct err *e);
int bundle_accept_start(struct container *c, struct err *e);
int bundle_connect_agent(struct container *c, struct err *e);
int bundle_send_mapped(struct container *c, struct err *e);
int bundle_wait_for_maps(struct container *c, struct err *e);
int bundle_load_filter(struct container *c, struct err *e);
int bundle_keep_timeline(struct container *c, struct err *e);
int bundle_map_mounts(struct container *c, struct err *e);
int bundle_send_terminal(int socket, int terminal, struct err *e);
_Noreturn void bundle_be_child(const struct plan *plan, struct container *c, struct err *e);
