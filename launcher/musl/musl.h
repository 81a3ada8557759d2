/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* musl.h - what musl lacks of the glibc that the rest is written for
 *
 * Comes before every file that is compiled for musl (-include, launcher/musl/meson.build).  Macros, so
 * that a later musl that has the call does no harm.
 * Source: the kernel's own headers, which name the same things.
 */
#pragma once

/* Its own struct, where it has one, is older than stx_mnt_id: the kernel's takes the name. */
#define statx libc_statx
#define statx_timestamp libc_statx_timestamp
#include <sys/stat.h>
#undef statx
#undef statx_timestamp
#include <linux/stat.h>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define statx(folder, path, flags, mask, ret)                                                      \
	((int)syscall(SYS_statx, (folder), (path), (flags), (mask), (ret)))
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

#define open_tree(folder, path, flags) ((int)syscall(SYS_open_tree, (folder), (path), (flags)))
#define move_mount(from, from_path, to, to_path, flags)                                            \
	((int)syscall(SYS_move_mount, (from), (from_path), (to), (to_path), (flags)))
#define mount_setattr(folder, path, flags, attributes, size)                                       \
	((int)syscall(SYS_mount_setattr, (folder), (path), (flags), (attributes), (size)))
#define close_range(first, last, flags) ((int)syscall(SYS_close_range, (first), (last), (flags)))
#define renameat2(from, from_path, to, to_path, flags)                                             \
	((int)syscall(SYS_renameat2, (from), (from_path), (to), (to_path), (flags)))

/* Errors are told in one set of words, whatever the C library: glibc's, taken over when this was
 * built (musl/error_words.py). */
const char *musl_strerror(int code);
#define strerror(code) musl_strerror(code)
