/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_mounts.h - the mounts of a bundle, with all words of the OCI specification
 *
 * Targets are opened beneath the root and kept open while something is mounted on them: no
 * symlink and no race in an image can lead a mount out of it.
 *
 * Source: mount(2), open_tree(2), move_mount(2), mount_setattr(2), openat2(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bundle;
struct bundle_mount;
struct err;

/* A cgroup tree as the container shall see it. */
struct cgroup_view {
	bool unified;
	bool own; /* in a new cgroup namespace: a mount of its own shows the right part */
	const char *controllers; /* v1 */
	const char *name;        /* of the folder in /sys/fs/cgroup */
	const char *dir;         /* outside */
};

/* Host: opens the sources that the child could not open, or not as a peer of the host's mounts:
 * those shared with the host, and with a new user namespace all.  ret_trees has one place for
 * each mount, -1: left to the child. */
int bundle_mounts_open(const struct bundle *bundle, bool all, int *ret_trees, struct err *e);

/* Host: gives an opened source the owners that the user namespace maps those on disk to. */
int bundle_mounts_map(int tree, int user_ns, const struct bundle_mount *m, struct err *e);

/* Child: mounts all in their order; those of type cgroup get what `views` says.  A read-only tmpfs
 * can be written to until bundle_mounts_seal(), and is kept open in `trees` for it. */
int bundle_mounts_make(int root, const struct bundle *bundle, int *trees,
		       const struct cgroup_view *views, size_t view_count, struct err *e);
bool bundle_mounts_want_seal(const struct bundle *bundle);
int bundle_mounts_seal(const struct bundle *bundle, const int *trees, struct err *e);
