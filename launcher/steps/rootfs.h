/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rootfs.h - the new root: attach it, protect parts of it, move into it
 *
 * Source: open_tree(2), mount_setattr(2), pivot_root(2), mount_namespaces(7).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_*.c only.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Cuts our mounts off from those of the host, in both directions. */
int rootfs_make_private(struct err *e);

/* Clones the tree at path as a mount that is nowhere yet. */
int rootfs_open(const char *path, int *ret_tree, struct err *e);

/* Shows the files of a tree that is nowhere yet as if their owners were the ids inside: the maps
 * of the process's user namespace.  By somebody with CAP_SYS_ADMIN on the file system's host. */
int rootfs_map_ids(int tree, pid_t pid, struct err *e);

/* Mounts the tree over path, where it came from, so that it can become "/".  With read_only
 * everything but its own top is read-only from now on, and the top after rootfs_seal(). */
int rootfs_attach(int tree, const char *path, bool read_only, struct err *e);

/* Makes the top of the root read-only, once nothing has to be made in it any more. */
int rootfs_seal(int root, struct err *e);

/* Covers masked paths beneath the folder and makes others read-only; those that this kernel
 * does not have are skipped.  The folder is one that we have mounted ourselves. */
int rootfs_protect(int root, const char *folder, const char *const *masked,
		   const char *const *read_only, struct err *e);

/* Makes the tree "/" and lets go of the old one. */
int rootfs_enter(int root, struct err *e);

/* The same by chroot(2), where the host's root cannot be pivoted away from (an initial ramfs).  The
 * host's mounts stay beneath ours, out of reach without CAP_SYS_CHROOT inside. */
int rootfs_enter_without_pivot(int root, struct err *e);

/* chdir(2), after the ids were taken: the user must be allowed to be there. */
int rootfs_change_directory(const char *path, struct err *e);
