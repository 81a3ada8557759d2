/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resources.h - limits that belong to one process and its children
 *
 * Set from outside: a process in a user namespace may not raise a limit, whoever it is there.
 * Source: prlimit(2), proc_pid_oom_score_adj(5).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_host.c only.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct err;
struct rlimit_setting;

int resources_limit(pid_t pid, const struct rlimit_setting *settings, size_t count, struct err *e);
int resources_set_oom_score(pid_t pid, int score, struct err *e);
