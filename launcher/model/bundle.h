/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle.h - what only an OCI bundle can ask for, beside struct container_spec; plain data
 *
 * Source: OCI runtime specification 1.2, config.md and config-linux.md.
 * Strings are borrowed from the parsed config.json and live as long as the process.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/id_map.h"

enum hook_stage {
	HOOK_PRESTART,
	HOOK_CREATE_RUNTIME,
	HOOK_CREATE_CONTAINER,
	HOOK_START_CONTAINER,
	HOOK_POSTSTART,
	HOOK_POSTSTOP,
	HOOK_STAGES,
};

struct hook {
	const char *path;
	char **args;   /* NULL-terminated; NULL: the path alone */
	char **env;    /* NULL-terminated; NULL: none */
	int timeout_s; /* 0: none */
};

struct hook_list {
	struct hook *hooks;
	size_t count;
};

struct bundle_device {
	const char *path; /* inside */
	mode_t mode;      /* with the type */
	unsigned int major, minor;
	uint32_t uid, gid;
};

struct sysctl {
	const char *key, *value;
};

/* Owners on disk (inside) and as the host counts them (outside). */
struct mount_ids {
	struct id_map users, groups;
};

/* One mount of config.json.  Attributes are those of mount_setattr(2). */
struct bundle_mount {
	const char *source, *target, *type; /* type NULL: bind mount */
	char *data;                         /* options of the file system, or NULL */
	uint64_t set, clear;                /* of this mount */
	uint64_t set_all, clear_all;        /* of it and of all beneath it */
	unsigned long propagation;          /* MS_SHARED..., 0: unchanged */
	bool propagation_all;
	bool with_submounts;         /* rbind */
	bool copy_up;                /* tmpfs: starts with what the image has there */
	bool no_follow;              /* a source that is a symlink is not followed */
	unsigned long super;         /* of the file system: MS_SYNCHRONOUS... */
	bool map_ids, map_ids_all;   /* idmap, ridmap */
	const struct mount_ids *ids; /* NULL: as the container's user namespace maps them */
};

struct capability_sets {
	uint64_t bounding, effective, permitted, inheritable, ambient;
};

/* One file of a cgroup, in the v1 tree of its controller or in the v2 tree. */
struct cgroup_setting {
	const char *controller;
	const char *file;
	char value[128];
	bool unified;  /* else v1 */
	bool optional; /* a kernel without this file loses nothing */
	bool alone;    /* the other version has no file that says the same */
};

enum { CGROUP_SETTINGS_MAX = 192 };

struct device_rule {
	bool allow;
	char type;            /* a, b or c */
	int64_t major, minor; /* -1: any */
	bool read, write, make;
};

/* As sched_setattr(2) takes it (older headers do not have it); size 0: unchanged. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

struct bundle {
	const char *id;
	const char *folder; /* absolute: where config.json is */
	struct hook_list hooks[HOOK_STAGES];
	struct bundle_mount *mounts;
	size_t mount_count;
	struct bundle_device *devices;
	size_t device_count;
	struct sysctl *sysctls;
	size_t sysctl_count;
	char **masked, **read_only; /* NULL-terminated, absolute paths inside */
	unsigned long root_propagation;
	const char *domainname;
	const char *agent_path;     /* socket of who answers SCMP_ACT_NOTIFY, or NULL */
	const char *agent_metadata; /* for the agent, or NULL */
	bool has_capabilities;
	struct capability_sets capabilities;
	bool has_umask;
	mode_t umask;
	unsigned short terminal_rows, terminal_columns;
	int io_priority; /* as ioprio_set(2) takes it; -1: unchanged */
	struct scheduling scheduling;
	cpu_set_t *exec_cpus_before,
		*exec_cpus; /* until exec is in the cgroup, and then; or NULL */
	bool has_personality;
	unsigned long personality;
	const char *cgroups_path; /* NULL: chosen by us */
	struct cgroup_setting *settings;
	size_t setting_count;
	struct device_rule *device_rules;
	size_t device_rule_count;
};
