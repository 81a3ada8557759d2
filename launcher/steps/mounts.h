/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mounts.h - everything that is mounted beneath the new root
 *
 * Targets are opened beneath the root and kept open while something is mounted on them: no
 * symlink and no race in an image can lead a mount out of it.
 *
 * Source: mount(2), open_tree(2), move_mount(2), openat2(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_child.c only.
 */
#pragma once

#include <stddef.h>

struct err;
struct mount;

/* Mounts them in this order.  Changes the working directory. */
int mounts_make(int root, const struct mount *mounts, size_t count, struct err *e);
