/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* copy_tree.h - copy what is in one folder into another one */
#pragma once

struct err;

/* Copies files, folders and symlinks with their modes and owners, without following a link and
 * without leaving the file system of `from`; other kinds of files are left out.  Both are
 * descriptors of folders, O_PATH will do.  Returns 0, or -errno with *e filled. */
int copy_tree(int from, int to, struct err *e);
