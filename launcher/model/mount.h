/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount.h - what is mounted where inside, as plain data */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct container_spec;

struct mount {
	const char *type;    /* a file system of mount(2); NULL: bind mount of source */
	const char *source;  /* bind mount: absolute path outside */
	const char *target;  /* absolute path inside, hostile: resolved beneath the root */
	const char *data;    /* options of the file system, or NULL */
	unsigned long flags; /* MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC; nothing else */
	bool optional;       /* a kernel or host that does not have it is no failure */
};

/* The mounts of the OCI runtime specification (config.md, "Default Filesystems", and what every
 * engine adds: /dev/pts, /dev/shm, /dev/mqueue, /sys), as far as the namespaces of spec allow:
 * a file system whose namespace is shared with the host is bound from there.
 * Fills at most MOUNT_DEFAULTS_MAX entries and returns their number. */
enum { MOUNT_DEFAULTS_MAX = 8 };
size_t mount_defaults(const struct container_spec *spec,
		      struct mount ret_mounts[static MOUNT_DEFAULTS_MAX]);

/* Paths that would tell or change too much about the host, NULL-terminated; what engines mask. */
extern const char *const mount_masked_proc[], *const mount_masked_sys[];
extern const char *const mount_read_only_proc[];

/* How many of them come before the first that shows the network namespace, which is sysfs. */
size_t mount_count_before_network(const struct container_spec *spec);
