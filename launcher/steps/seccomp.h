/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp.h - limit the system calls of the calling process, for ever
 *
 * Source: seccomp(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/ only.
 */
#pragma once

struct err;
struct seccomp_filter;

/* The caller must have set no_new_privs, or have CAP_SYS_ADMIN in its user namespace.
 * Returns 0, or a negative errno with *e filled:
 *   -EACCES  neither of the two
 *   -EINVAL  the kernel does not take the program, or was built without CONFIG_SECCOMP_FILTER
 *   -ENOMEM  the programs of all filters together are beyond 32768 instructions */
int seccomp_load_filter(const struct seccomp_filter *filter, struct err *e);
