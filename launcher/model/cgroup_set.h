/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup_set.h - the cgroups of a bundle, one in each tree of the host, as plain data */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CGROUP_SET_MAX = 24 };

struct cgroup_dir {
	bool unified;
	bool made;            /* by us, so that it is ours to remove */
	char controllers[80]; /* "cpu,cpuacct"; "" for v2 */
	size_t mount_length;  /* dir up to here is the mount point; 0: not known */
	char *dir;            /* absolute */
};

struct cgroup_set {
	size_t count;
	struct cgroup_dir dirs[CGROUP_SET_MAX];
};
