/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file.h - files by absolute path, and files beneath a root that may be hostile
 *
 * Paths inside an image are input: a symlink in it may point anywhere.  "Beneath" means that
 * the kernel resolves every component and link as if the given directory were "/", openat2(2)
 * RESOLVE_IN_ROOT, even while somebody renames things under us.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

/* Writes the text with one write(2) into an existing file. */
int file_write(const char *path, const char *text, size_t length, struct err *e);

/* Reads a whole small file as text, or an error if it has size bytes or more. */
int file_read(const char *path, char *buffer, size_t size, struct err *e);

/* The rest of an open file, same rule; path is for the message. */
int file_read_fd(int fd, const char *path, char *buffer, size_t size, struct err *e);

/* Opens path beneath the directory root.  Returns the fd, or -errno; fills nothing. */
int file_open_beneath(int root, const char *path, int flags);

/* Opens (O_PATH) the place beneath root where something will be mounted, and makes it first, with
 * its parents, if it is missing: a directory, or an empty file.  Returns 0 or -errno with *e. */
int file_make_target(int root, const char *path, bool directory, int *ret_fd, struct err *e);

/* The same for a mount.  Refuses a place that is the root itself (-EINVAL, with a hint): what is
 * mounted there cannot be reached by name, and what we make in it, as in /dev, would be made in the
 * image. */
int file_make_mount_point(int root, const char *path, bool directory, int *ret_fd, struct err *e);

/* Closes all descriptors from `first` on but the kept ones (-1 counts for nothing); sorts `kept`. */
void file_close_others(unsigned int first, int *kept, size_t count);
