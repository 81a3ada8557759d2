/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

int file_write(const char *path, const char *text, size_t length, struct err *e)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (write(fd, text, length) != (ssize_t)length)
		return err_set(e, errno, "cannot write %s", path);
	return 0;
}

int file_read_fd(int fd, const char *path, char *buffer, size_t size, struct err *e)
{
	size_t length = 0;

	for (;;) {
		ssize_t n = read(fd, buffer + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, errno, "cannot read %s", path);
		if (n == 0)
			break;
		length += (size_t)n;
		if (length == size)
			return err_set(e, EFBIG, "%s has %zu bytes or more", path, size);
	}
	buffer[length] = '\0';
	return 0;
}

int file_read(const char *path, char *buffer, size_t size, struct err *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "cannot open %s", path);
	return file_read_fd(fd, path, buffer, size, e);
}

int file_open_beneath(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)flags | O_CLOEXEC,
		.mode = flags & O_CREAT ? 0644 : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	/* EAGAIN: a rename elsewhere in the tree made the kernel unsure; openat2(2) says retry. */
	do
		fd = syscall(SYS_openat2, root, path, &how, sizeof how);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd < 0 ? -errno : (int)fd;
}

static int make_directory(int root, const char *path, struct err *e);

/* Opens the directory beneath root and makes it and its parents where they are missing. */
static int open_or_make_directory(int root, const char *path, struct err *e)
{
	int fd = file_open_beneath(root, path, O_PATH | O_DIRECTORY);

	if (fd == -ENOENT)
		return make_directory(root, path, e);
	return fd >= 0 ? fd : err_set(e, -fd, "cannot open %s in the root filesystem", path);
}

static int make_directory(int root, const char *path, struct err *e)
{
	autofree char *parent_path = NULL;
	autoclose int parent = -1;
	const char *name;
	int fd;

	name = strrchr(path, '/');
	parent_path = name != NULL ? strndup(path, (size_t)(name - path)) : strdup("");
	name = name != NULL ? name + 1 : path;
	if (parent_path == NULL)
		return err_set(e, ENOMEM, "cannot make %s", path);
	parent = open_or_make_directory(root, *parent_path != '\0' ? parent_path : "/", e);
	if (parent < 0)
		return parent;
	if (*name != '\0' && mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s in the root filesystem", path);
	fd = file_open_beneath(root, path, O_PATH | O_DIRECTORY);
	return fd >= 0 ? fd : err_set(e, -fd, "cannot open %s in the root filesystem", path);
}

/* Makes an empty file beneath root, unless it is there. */
static int make_file(int root, const char *path, struct err *e)
{
	autofree char *parent_path = NULL;
	autoclose int parent = -1, file = -1;
	const char *name = strrchr(path, '/');

	parent_path = strndup(path, name != NULL ? (size_t)(name - path) : 0);
	if (parent_path == NULL)
		return err_set(e, ENOMEM, "cannot make %s", path);
	parent = open_or_make_directory(root, *parent_path != '\0' ? parent_path : "/", e);
	if (parent < 0)
		return parent;
	/* O_EXCL never follows a link, and in a race somebody else's file does as well. */
	file = openat(parent, name != NULL ? name + 1 : path,
		      O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s in the root filesystem", path);
	return 0;
}

int file_make_target(int root, const char *path, bool directory, int *ret_fd, struct err *e)
{
	int fd = file_open_beneath(root, path, O_PATH), r;

	if (fd == -ENOENT && directory) {
		r = make_directory(root, path, e);
		if (r < 0)
			return r;
		fd = r;
	} else if (fd == -ENOENT) {
		r = make_file(root, path, e);
		if (r < 0)
			return r;
		fd = file_open_beneath(root, path, O_PATH);
	}
	if (fd < 0)
		return err_set(e, -fd, "cannot open %s in the root filesystem", path);
	*ret_fd = fd;
	return 0;
}

int file_make_mount_point(int root, const char *path, bool directory, int *ret_fd, struct err *e)
{
	autoclose int target = -1;
	struct statx top, place;
	int r = file_make_target(root, path, directory, &target, e);

	if (r < 0)
		return r;
	if (statx(root, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &top) < 0 ||
	    statx(target, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &place) < 0)
		return err_set(e, errno, "cannot look at %s", path);
	if (top.stx_ino == place.stx_ino && top.stx_mnt_id == place.stx_mnt_id &&
	    top.stx_dev_major == place.stx_dev_major && top.stx_dev_minor == place.stx_dev_minor) {
		(void)err_set(e, EINVAL, "mount target '%s' is the root itself", path);
		return err_hint(e, "a symbolic link leads there: put a folder in its place");
	}
	*ret_fd = take_fd(&target);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void file_close_others(unsigned int first, int *kept, size_t count)
{
	qsort(kept, count, sizeof *kept, by_number);
	for (size_t i = 0; i < count; i++) {
		unsigned int fd = (unsigned int)kept[i];

		if (kept[i] < 0 || fd < first)
			continue;
		if (fd > first)
			(void)close_range(first, fd - 1, 0); /* cannot fail with these numbers */
		first = fd + 1;
	}
	(void)close_range(first, ~0U, 0);
}
