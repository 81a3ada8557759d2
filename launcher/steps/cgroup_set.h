/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup_set.h - the cgroups of a bundle: one in each tree of this host, v1, v2 or both
 *
 * An engine names the place ("cgroupsPath") and expects the container in every tree.  Unlike the
 * cgroup of timens-run (steps/cgroup.h) it outlives the process that made it, so everything here
 * works on paths that the state file keeps.
 *
 * Sources: cgroups(7); Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
 * Layer:   steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/cgroup_set.h"

struct cgroup_setting;
struct err;

/* Chooses the places; makes nothing.  path is that of the specification, or NULL for a place
 * named after id.  *ret is only added to. */
int cgroup_set_choose(const char *path, const char *id, struct cgroup_set *ret, struct err *e);

/* -EBUSY: one of them exists and has processes in it, which are not ours. */
int cgroup_set_check_unused(const struct cgroup_set *set, struct err *e);

/* Makes them.  Without privileges a tree that is not ours to use is left out of the set. */
int cgroup_set_make(struct cgroup_set *set, bool unprivileged, struct err *e);

/* Writes the limits.  -ENOENT: no tree has the controller. */
int cgroup_set_limit(const struct cgroup_set *set, const struct cgroup_setting *settings,
		     size_t count, struct err *e);

/* Opens what leads into each tree: the file "tasks" of v1, the folder of v2.  The fds belong to the
 * caller, to be closed by cgroup_set_close_entries(); on failure none is open. */
int cgroup_set_open_entries(const struct cgroup_set *set, int ret_entries[static CGROUP_SET_MAX],
			    struct err *e);
void cgroup_set_close_entries(const struct cgroup_set *set, int entries[static CGROUP_SET_MAX]);

/* The entry of v2, for CLONE_INTO_CGROUP, or -1. */
int cgroup_set_unified_entry(const struct cgroup_set *set,
			     const int entries[static CGROUP_SET_MAX]);

/* Moves the calling process, which has one thread, into the v1 trees.  Others can be moved too,
 * but then the kernel holds up every fork and exit of the host for it, and waits for that: 10 ms
 * (kernel/cgroup/cgroup.c, cgroup_procs_write_start()). */
int cgroup_set_enter(const struct cgroup_set *set, const int entries[static CGROUP_SET_MAX],
		     struct err *e);

/* Moves another process into the tree of v2, where it could not be born in. */
int cgroup_set_attach_unified(const struct cgroup_set *set, pid_t pid, struct err *e);
