/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/copy_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

enum { DEPTH_MAX = 64, PIECE = 1 << 20 };

static int copy_folder(int from, int to, int depth, struct err *e);

static int copy_file(int from, int to, const char *name, const struct stat *s, struct err *e)
{
	autoclose int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autoclose int out =
		openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n;

	if (in < 0 || out < 0)
		return err_set(e, errno, "cannot copy %s", name);
	while ((n = sendfile(out, in, NULL, PIECE)) > 0)
		;
	/* The mode last: a change of owner clears the setuid bit. */
	if (n < 0 || fchown(out, s->st_uid, s->st_gid) < 0 || fchmod(out, s->st_mode & 07777) < 0)
		return err_set(e, errno, "cannot copy %s", name);
	return 0;
}

static int copy_link(int from, int to, const char *name, const struct stat *s, struct err *e)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof target - 1);

	if (n < 0)
		return err_set(e, errno, "cannot copy %s", name);
	target[n] = '\0';
	if (symlinkat(target, to, name) < 0 ||
	    fchownat(to, name, s->st_uid, s->st_gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(e, errno, "cannot copy %s", name);
	return 0;
}

static int copy_one(int from, int to, const char *name, int depth, struct err *e)
{
	autoclose int in = -1, out = -1;
	struct stat s, there;

	if (fstatat(from, name, &s, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(e, errno, "cannot copy %s", name);
	if (S_ISREG(s.st_mode))
		return copy_file(from, to, name, &s, e);
	if (S_ISLNK(s.st_mode))
		return copy_link(from, to, name, &s, e);
	if (!S_ISDIR(s.st_mode) || fstat(from, &there) < 0 || there.st_dev != s.st_dev)
		return 0;
	in = openat(from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0 || mkdirat(to, name, 0700) < 0)
		return err_set(e, errno, "cannot copy %s", name);
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0 || fchown(out, s.st_uid, s.st_gid) < 0 || fchmod(out, s.st_mode & 07777) < 0)
		return err_set(e, errno, "cannot copy %s", name);
	return copy_folder(in, out, depth + 1, e);
}

static int copy_folder(int from, int to, int depth, struct err *e)
{
	int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL || depth > DEPTH_MAX) {
		if (dir != NULL)
			(void)closedir(dir);
		return err_set(e, dir == NULL ? errno : ELOOP, "cannot read a folder to copy");
	}
	for (struct dirent *entry; r == 0 && (entry = readdir(dir)) != NULL;) {
		const char *name = entry->d_name;

		if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
			continue;
		r = copy_one(fd, to, name, depth, e);
	}
	(void)closedir(dir);
	return r;
}

int copy_tree(int from, int to, struct err *e)
{
	return copy_folder(from, to, 0, e);
}
