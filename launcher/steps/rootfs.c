/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"

int rootfs_make_private(struct err *e)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, errno, "cannot make the mounts private");
	return 0;
}

int rootfs_open(const char *path, int *ret_tree, struct err *e)
{
	*ret_tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	return *ret_tree < 0 ? err_set(e, errno, "cannot open %s", path) : 0;
}

int rootfs_map_ids(int tree, pid_t pid, struct err *e)
{
	autoclose int user_ns = -1;
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP };
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
	user_ns = open(path, O_RDONLY | O_CLOEXEC);
	if (user_ns < 0)
		return err_set(e, errno, "cannot open %s", path);
	attributes.userns_fd = (uint64_t)user_ns;
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0)
		return 0;
	(void)err_set(e, errno, "cannot map the owners of the files");
	return err_hint(e,
			"the file system cannot (Linux 5.12 and later, not all of them): chown it "
			"to the ids outside, or leave out --map-users");
}

int rootfs_attach(int tree, const char *path, bool read_only, struct err *e)
{
	struct mount_attr set = { .attr_set = MOUNT_ATTR_RDONLY };
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (read_only &&
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &set, sizeof set) < 0)
		return err_set(e, errno, "cannot make %s read-only", path);
	if (read_only) /* refused where the host has it read-only: then nothing can be made there */
		(void)mount_setattr(tree, "", AT_EMPTY_PATH, &clear, sizeof clear);
	if (move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot mount %s", path);
	return 0;
}

int rootfs_seal(int root, struct err *e)
{
	struct mount_attr set = { .attr_set = MOUNT_ATTR_RDONLY };

	if (mount_setattr(root, "", AT_EMPTY_PATH, &set, sizeof set) < 0)
		return err_set(e, errno, "cannot make the root read-only");
	return 0;
}

static int mask(const char *name, struct err *e)
{
	struct stat file;
	int r;

	/* Looked at first: a bind that does not fit is undone by the kernel, and it waits for a
	 * grace period of RCU then, milliseconds on a busy machine. */
	r = lstat(name, &file);
	if (r == 0 && S_ISDIR(file.st_mode))
		r = mount("tmpfs", name, "tmpfs", MS_RDONLY, "nr_inodes=1");
	else if (r == 0)
		r = mount("/dev/null", name, NULL, MS_BIND, NULL);
	return r == 0 || errno == ENOENT ? 0 : err_set(e, errno, "cannot mask %s", name);
}

static int make_read_only(const char *name, struct err *e)
{
	const unsigned long kept = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	if (mount(name, name, NULL, MS_BIND | MS_REC, NULL) < 0)
		return errno == ENOENT ? 0 : err_set(e, errno, "cannot bind %s", name);
	if (mount(NULL, name, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, NULL) < 0)
		return err_set(e, errno, "cannot make %s read-only", name);
	return 0;
}

int rootfs_protect(int root, const char *folder, const char *const *masked,
		   const char *const *read_only, struct err *e)
{
	autoclose int fd = file_open_beneath(root, folder, O_PATH | O_DIRECTORY);
	int r = 0;

	if (fd < 0 || fchdir(fd) < 0)
		return err_set(e, fd < 0 ? -fd : errno, "cannot enter %s", folder);
	for (; r == 0 && *masked != NULL; masked++)
		r = mask(*masked, e);
	for (; r == 0 && *read_only != NULL; read_only++)
		r = make_read_only(*read_only, e);
	return r;
}

int rootfs_enter(int root, struct err *e)
{
	if (fchdir(root) < 0)
		return err_set(e, errno, "cannot enter the root filesystem");
	/* Both arguments the same: the old root ends up on top of the new one, and the umount
	 * uncovers it.  pivot_root(2), "pivot_root(\".\", \".\")". */
	if (syscall(SYS_pivot_root, ".", ".") < 0) {
		(void)err_set(e, errno, "cannot make it the root");
		if (e->code == EINVAL)
			return err_hint(e, "the host's root is an initial ramfs, or we are in a "
					   "chroot: neither can be pivoted away from");
		return -e->code;
	}
	if (umount2(".", MNT_DETACH) < 0)
		return err_set(e, errno, "cannot let go of the old root");
	return 0;
}

int rootfs_enter_without_pivot(int root, struct err *e)
{
	if (fchdir(root) < 0)
		return err_set(e, errno, "cannot enter the root filesystem");
	if (mount(".", "/", NULL, MS_MOVE, NULL) < 0)
		return err_set(e, errno, "cannot move it over the host's root");
	if (chroot(".") < 0 || chdir("/") < 0)
		return err_set(e, errno, "cannot make it the root");
	return 0;
}

int rootfs_change_directory(const char *path, struct err *e)
{
	char place[PATH_MAX];

	if (chdir(path) < 0)
		return err_set(e, errno, "cannot enter '%s'", path);
	/* The kernel's own word, of which a C library makes an error.  That a filter forbids the call is
	 * no such word. */
	if (syscall(SYS_getcwd, place, sizeof place) > 0 && place[0] != '/')
		return err_set(e, EPERM, "'%s' leads out of the root filesystem", path);
	return 0;
}
