/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* init.h - process 1 of the container
 *
 * The kernel gives PID 1 two duties: to reap orphans, and to live without default actions of
 * signals (a payload as PID 1 would ignore its own SIGTERM).  Ours does both and nothing else.
 * Source: pid_namespaces(7), "The namespace init process".
 */
#pragma once

#include <sys/types.h>

/* Starts the payload: run(arg) in a child that shares our memory until it has called exec, so
 * that no page table is copied.  Returns its process id, or -1 with errno. */
pid_t init_spawn(int (*run)(void *), void *arg);

/* Forwards every signal to the payload, reaps everybody, and ends as the payload ended, with
 * 128+N for signal N.  All signals must be blocked.  `lease` is a timerfd, or -1: when it has run
 * out, init ends as if by SIGKILL, and the kernel ends everybody else (engine/journal.h). */
_Noreturn void init_wait(pid_t payload, int lease);
