/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* id_maps.h - which ids inside are which ids outside
 *
 * Source: user_namespaces(7), "Defining user and group ID mappings"; newuidmap(1).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_host.c only.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "model/id_map.h"

struct err;

/* Writes both maps of the process's new user namespace, from outside. */
int id_maps_write(pid_t pid, const struct id_map *users, const struct id_map *groups,
		  bool deny_setgroups, struct err *e);

/* Lets newuidmap and newgidmap write them: they may give out the ranges of /etc/subuid. */
int id_maps_write_by_helper(pid_t pid, const struct id_map *users, const struct id_map *groups,
			    struct err *e);
