/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/bundle_protect.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "model/bundle.h"

static int mask(int root, const char *path, struct err *e)
{
	autoclose int target = file_open_beneath(root, path, O_PATH);
	autoclose int null = -1;
	struct stat s;

	if (target == -ENOENT || target == -ENOTDIR)
		return 0;
	if (target < 0 || fstat(target, &s) < 0)
		return err_set(e, target < 0 ? -target : errno, "cannot open %s", path);
	if (S_ISDIR(s.st_mode)) {
		if (fchdir(target) < 0 ||
		    mount("tmpfs", ".", "tmpfs", MS_RDONLY, "nr_inodes=1") < 0)
			return err_set(e, errno, "cannot mask %s", path);
		return 0;
	}
	null = open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (null < 0 ||
	    move_mount(null, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot mask %s", path);
	return 0;
}

static int make_read_only(int root, const char *path, struct err *e)
{
	autoclose int target = file_open_beneath(root, path, O_PATH);
	autoclose int tree = -1;
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	if (target == -ENOENT || target == -ENOTDIR)
		return 0;
	if (target < 0)
		return err_set(e, -target, "cannot open %s", path);
	tree = open_tree(target, "",
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only, sizeof read_only) <
		    0 ||
	    move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot make %s read-only", path);
	return 0;
}

int bundle_protect(int root, const struct bundle *bundle, struct err *e)
{
	int r = 0;

	for (char **path = bundle->read_only; r == 0 && path != NULL && *path != NULL; path++)
		r = make_read_only(root, *path, e);
	for (char **path = bundle->masked; r == 0 && path != NULL && *path != NULL; path++)
		r = mask(root, *path, e);
	return r;
}
