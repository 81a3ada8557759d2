/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup_life.h - the cgroups of a running bundle: freeze, list, end and remove
 *
 * Sources: cgroups(7); Documentation/admin-guide/cgroup-v1/freezer-subsystem.rst.
 * Layer:   steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/cgroup_set.h"

struct err;

int cgroup_set_freeze(const struct cgroup_set *set, bool freeze, struct err *e);
bool cgroup_set_is_frozen(const struct cgroup_set *set);

/* The processes in it and beneath it, as we number them; the caller frees *ret. */
int cgroup_set_members(const struct cgroup_set *set, pid_t **ret, size_t *ret_count, struct err *e);

/* Reads a file of the first tree that has it; "" if none has. */
void cgroup_set_read(const struct cgroup_set *set, const char *file, char *text, size_t size);

/* Ends all members, also frozen ones, and removes what we made. */
int cgroup_set_remove(const struct cgroup_set *set, struct err *e);
