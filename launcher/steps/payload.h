/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* payload.h - what "process" of a bundle says about the process that will be executed
 *
 * Source: OCI runtime specification, config.md, "Process"; capabilities(7), prlimit(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

struct bundle;
struct capability_sets;
struct container_spec;
struct err;

/* Host: resource limits and the out-of-memory score, which a process in a user namespace could
 * not raise by itself. */
int payload_limit(pid_t pid, const struct container_spec *spec, struct err *e);

/* Child: which processors we may run on; NULL changes nothing. */
int payload_place(const cpu_set_t *processors, struct err *e);

/* Child: priorities, the scheduler's policy, personality and umask. */
int payload_tune(const struct bundle *bundle, struct err *e);

/* Child: ids and groups; the capabilities stay, to be limited next. */
int payload_set_ids(const struct container_spec *spec, struct err *e);

/* Child: the five sets.  What we do not have ourselves cannot be given. */
int payload_set_capabilities(const struct capability_sets *sets, struct err *e);

/* Child, in the root: adds HOME to the environment if it is not there, and finds argv[0] in its
 * PATH.  Engines know the error texts by heart:
 *   exec: "X": executable file not found in $PATH    -ENOENT
 *   exec: "X": permission denied                     -EACCES
 * Both results live as long as the process. */
int payload_find(const struct container_spec *spec, const char **ret_path, char ***ret_env,
		 struct err *e);
