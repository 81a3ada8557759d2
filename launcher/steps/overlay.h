/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overlay.h - a root that takes changes and leaves the image as it is
 *
 * Source: Documentation/filesystems/overlayfs.rst.
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_child.c only.
 */
#pragma once

#include <stdbool.h>

struct err;

/* Mounts an overlay over path.  *root, a tree that is mounted nowhere, becomes its lower layer, and
 * is replaced by the overlay.
 * Changes go to kept_dir/upper, or to memory if kept_dir is NULL.  Changes the working directory.
 * in_user_namespace tells which attributes may be written. */
int overlay_mount(int *root, const char *path, const char *kept_dir, bool in_user_namespace,
		  struct err *e);
