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

int cgroup_set_attach(const struct cgroup_set *set, pid_t pid, struct err *e);
