/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* announce.h - tell others which container this is
 *
 * Layer: steps; includes base/ and model/ only; called from engine/plan_host.c only.
 */
#pragma once

#include <sys/types.h>

struct err;

/* Takes the name for as long as the fd is open: an abstract socket, unix(7), which the kernel
 * removes however we end.  -EADDRINUSE: a container of this user has the name. */
int announce_take_name(const char *name, int *ret_lock, struct err *e);

/* Writes the process id of the container into a file, which must not exist. */
int announce_pid_file(const char *path, pid_t pid, struct err *e);

/* Writes one line of JSON: process id, namespaces, offsets; then closes the descriptor. */
int announce_info(int fd, pid_t pid, struct err *e);
