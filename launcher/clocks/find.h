/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.h - from the name of a container to a process in its time namespace */
#pragma once

#include <sys/types.h>

struct err;

/* NAME as in timens-run --name, of a container of ours; or UID/NAME, of one of user UID; or the id
 * of a container of timens-oci in its default root.
 * Returns 0, or a negative errno with *e (and a hint) filled. */
int clocks_find(const char *name, pid_t *ret_pid, struct err *e);
