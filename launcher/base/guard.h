/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guard.h - a small process that cleans up when this one is gone
 *
 * Nothing that runs in a process survives its SIGKILL, so what must be undone even then is undone
 * by another one.  The guard lives in a session of its own, holds no descriptor and blocks all
 * signals, and waits for the SIGTERM that the kernel sends it when its parent dies
 * (PR_SET_PDEATHSIG) or that guard_end() sends: one way to clean up, the one that always runs.
 */
#pragma once

#include <sys/types.h>

struct err;

/* Forks a guard that will call undo(arg), once.  The caller must have one thread.
 * Returns 0 and its pid, or a negative errno with *e filled. */
int guard_start(int (*undo)(const void *arg), const void *arg, pid_t *ret_pid, struct err *e);

/* Lets the guard do its work and waits for it.  Returns what undo() gave, or -EOWNERDEAD if
 * somebody killed the guard, which has then undone nothing. */
int guard_end(pid_t guard);
