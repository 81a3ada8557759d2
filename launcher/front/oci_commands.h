/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_commands.h - the commands that engines call, and the words they call them with
 *
 * Each command returns its exit status (0 or more), or -errno with *e filled.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "front/oci_config.h"
#include "front/state.h"

struct bundle_run;
struct err;

enum { ENV_MAX = 256 };

struct oci_call {
	/* for all commands */
	const char *root, *log, *log_format, *cgroup_manager;
	struct oci_clock_flags clocks;
	bool debug;

	/* for some */
	const char *bundle, *config, *pid_file, *console_socket, *preserve_fds;
	const char *process, *cwd, *user, *format, *resources, *interval;
	const char *memory, *memory_swap, *memory_reservation, *cpu_quota, *cpu_period, *cpu_shares,
		*cpuset_cpus, *cpuset_mems, *pids_limit;
	const char *cpu_rt_period, *cpu_rt_runtime, *kernel_memory, *kernel_memory_tcp,
		*blkio_weight;
	const char *env[ENV_MAX], *caps[ENV_MAX], *groups[ENV_MAX];
	size_t env_count, cap_count, group_count;
	bool force, all, detach, keep, tty, quiet, no_new_privs, stats, rootless, ignore_paused,
		no_pivot, no_new_keyring;

	char **words; /* what is not an option, NULL-terminated: ID, then ARG... */
	size_t word_count;
};

int oci_create(struct oci_call *call, struct err *e);
int oci_run(struct oci_call *call, struct err *e);
int oci_start(struct oci_call *call, struct err *e);
int oci_state(struct oci_call *call, struct err *e);
int oci_kill(struct oci_call *call, struct err *e);
int oci_delete(struct oci_call *call, struct err *e);
int oci_list(struct oci_call *call, struct err *e);
int oci_exec(struct oci_call *call, struct err *e);
int oci_ps(struct oci_call *call, struct err *e);
int oci_pause(struct oci_call *call, struct err *e);
int oci_resume(struct oci_call *call, struct err *e);
int oci_update(struct oci_call *call, struct err *e);
int oci_events(struct oci_call *call, struct err *e);
int oci_features(struct oci_call *call, struct err *e);
int oci_spec(struct oci_call *call, struct err *e);
int oci_patch_config(struct oci_call *call, struct err *e);

/* Shared by create, run and exec. */
int oci_run_options(const struct oci_call *call, bool terminal, struct bundle_run *run,
		    struct err *e);
int oci_open_live(struct oci_call *call, bool lock, struct state *s, enum state_status *ret_now,
		  struct err *e);
int oci_needs_id(const struct oci_call *call, const char **ret_id, struct err *e);
int oci_remove_container(struct oci_call *call, struct state *s, struct err *e);
