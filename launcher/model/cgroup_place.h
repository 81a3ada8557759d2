/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup_place.h - where in the cgroup trees a process is, for each controller
 *
 * Sources: cgroups(7), "/proc/PID/cgroup"; proc_pid_mountinfo(5).
 * Layer:   model; pure, works on the text of the two files.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

struct cgroup_place {
	bool unified;       /* v2; else the v1 hierarchy of this controller */
	size_t mount_len;   /* dir up to here is the mount point: nobody may look above it */
	char dir[PATH_MAX]; /* absolute path of the process's own cgroup */
};

/* Finds the hierarchy that has `controller` ("memory", "cpu", "pids"): a v1 one if the process is
 * a member of one, else the v2 one.  That the v2 one really has the controller is for the caller
 * to see, in its cgroup.controllers.
 * Returns 0, or -ENOENT with *e filled where neither is mounted, or the own cgroup lies outside of
 * what is mounted or its path is beyond PATH_MAX. */
int cgroup_place_find(const char *self_cgroup, const char *mountinfo, const char *controller,
		      struct cgroup_place *ret, struct err *e);
