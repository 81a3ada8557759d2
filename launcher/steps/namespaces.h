/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* namespaces.h - create and enter namespaces, and give the new ones their start values
 *
 * Source: namespaces(7), clone(2), setns(2), cgroup_namespaces(7).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_*.c only.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "model/namespaces.h"

struct err;

/* clone3(2) with these namespaces at once; -1 for no cgroup.  Time and cgroup are left out: the
 * one would be born with a member and frozen offsets, the other must wait for its cgroup.
 * Returns the process id, 0 in the child, or -errno with *e filled. */
pid_t namespaces_clone(uint32_t flags, int into_cgroup, struct err *e);

/* Opens the namespaces to join; ret_fds gets -1 where there is none. */
int namespaces_open(const char *const paths[static NS_COUNT], int ret_fds[static NS_COUNT],
		    struct err *e);

/* Enters one opened namespace. */
int namespaces_join(enum namespace_kind kind, int fd, struct err *e);

int namespaces_new_cgroup(struct err *e);
int namespaces_set_hostname(const char *name, struct err *e);

/* Enters a new network namespace with lo up, and puts it in the place of the file fd, as what
 * namespaces_join() takes. */
int namespaces_new_network(int fd, struct err *e);

/* Brings lo up in the network namespace we are in. */
int namespaces_loopback_up(struct err *e);
