/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup.h - a control group that holds one container to its limits
 *
 * It is made before the process is cloned and removed by a guard (base/guard.h), so that it is
 * gone however the launcher ends.
 *
 * Sources: cgroups(7); Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
 * Layer:   steps; includes base/ and model/ only; called from engine/ only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct limits;

enum {
	CGROUP_TREES_MAX = 3, /* v1 can have memory, cpu and pids in a tree each */
	CGROUP_PATH_MAX = 1024,
};

struct cgroup_tree {
	bool unified;
	char dir[CGROUP_PATH_MAX]; /* "" before cgroup_create() has chosen it */
};

struct cgroup {
	size_t count; /* 0: nothing was made */
	struct cgroup_tree trees[CGROUP_TREES_MAX];
	pid_t guard;
};

/* Makes one cgroup in each tree that is needed for the limits, and sets them.  It lies beneath
 * our own cgroup (v1), or in the nearest ancestor that can hand the controllers down (v2, where
 * a cgroup that holds processes cannot).  The caller must have one thread.
 * Returns 0, or a negative errno with *e filled and nothing left:
 *   -ENOENT  no cgroup tree has the controller
 *   -EACCES  the trees are there, and none of them is ours to use; in v2 -EBUSY too
 *   others   the kernel's own answer to mkdir(2) or to a limit that it does not take */
int cgroup_create(const struct limits *limits, struct cgroup *ret, struct err *e);

/* Gives *ret_fd for clone3(CLONE_INTO_CGROUP), or -1 where no v2 tree is used. */
int cgroup_open_for_clone(const struct cgroup *cgroup, int *ret_fd, struct err *e);

/* Puts the process into the v1 cgroups; those of v2 it was born in. */
int cgroup_attach(const struct cgroup *cgroup, pid_t pid, struct err *e);

/* Ends what is still inside and removes all; for a container that is dead, or must die. */
int cgroup_remove(struct cgroup *cgroup, struct err *e);
