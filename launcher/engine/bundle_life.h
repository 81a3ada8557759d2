/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_life.h - what commands do to a container that was made earlier
 *
 * By what its state file says of it: there is no plan to run and nobody to talk to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/cgroup_set.h"

struct bundle;
struct err;
struct hook_list;

bool bundle_is_frozen(const struct cgroup_set *set);
int bundle_freeze(const struct cgroup_set *set, bool freeze, struct err *e);
int bundle_members(const struct cgroup_set *set, pid_t **ret, size_t *ret_count, struct err *e);
void bundle_read(const struct cgroup_set *set, const char *file, char *text, size_t size);

/* Writes the limits of wanted; those of devices only if there are some. */
int bundle_limit(const struct cgroup_set *set, const struct bundle *wanted, struct err *e);

/* Ends who is left inside and removes the cgroups. */
int bundle_remove(const struct cgroup_set *set, struct err *e);

int bundle_run_hooks(const struct hook_list *list, const char *state, struct err *e);
