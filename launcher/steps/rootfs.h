/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rootfs.h - the new root: attach it, protect parts of it, move into it
 *
 * Source: open_tree(2), mount_setattr(2), pivot_root(2), mount_namespaces(7).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_*.c only.
 */
#pragma once

#include <stdbool.h>

struct err;

/* Cuts our mounts off from those of the host, in both directions. */
int rootfs_make_private(struct err *e);

/* Mounts the tree at path onto itself, so that it can become "/".  Returns it in ret_root. */
int rootfs_attach(const char *path, int *ret_root, struct err *e);

/* Covers masked paths beneath the folder and makes others read-only; those that this kernel
 * does not have are skipped.  The folder is one that we have mounted ourselves. */
int rootfs_protect(int root, const char *folder, const char *const *masked,
		   const char *const *read_only, struct err *e);

/* Makes the tree "/" and lets go of the old one. */
int rootfs_enter(int root, struct err *e);

/* chdir(2), after the ids were taken: the user must be allowed to be there. */
int rootfs_change_directory(const char *path, struct err *e);
