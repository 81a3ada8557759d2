/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "model/mount.h"

static int mount_file_system(int root, const struct mount *m, struct err *e)
{
	autoclose int target = -1;
	int r = file_make_mount_point(root, m->target, true, &target, e);

	if (r < 0)
		return r;
	if (fchdir(target) < 0)
		return err_set(e, errno, "cannot enter %s", m->target);
	if (mount(m->type, ".", m->type, m->flags, m->data) == 0)
		return 0;
	if (m->optional && (errno == ENODEV || errno == EPERM))
		return 0; /* not built, or not to be seen here */
	(void)err_set(e, errno, "cannot mount %s on %s", m->type, m->target);
	if (e->code == EPERM)
		return err_hint(e,
				"is /proc or /sys partly covered outside, as in most containers? "
				"then the kernel refuses a new one in a user namespace");
	return -e->code;
}

static int bind(int root, const struct mount *m, struct err *e)
{
	autoclose int tree =
		open_tree(AT_FDCWD, m->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	autoclose int target = -1;
	struct mount_attr attributes = { .attr_set = m->flags };
	struct stat source;
	int r;

	if (tree < 0 && errno == ENOENT && m->optional)
		return 0;
	if (tree < 0 || fstat(tree, &source) < 0)
		return err_set(e, errno, "cannot open %s", m->source);
	r = file_make_mount_point(root, m->target, S_ISDIR(source.st_mode), &target, e);
	if (r < 0)
		return r;
	/* The flags of mount(2) that we use have the same values as those of mount_setattr(2). */
	_Static_assert(MS_RDONLY == MOUNT_ATTR_RDONLY && MS_NOSUID == MOUNT_ATTR_NOSUID &&
			       MS_NODEV == MOUNT_ATTR_NODEV && MS_NOEXEC == MOUNT_ATTR_NOEXEC,
		       "struct mount holds either");
	if (m->flags != 0 && mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
					   sizeof attributes) < 0)
		return err_set(e, errno, "cannot restrict %s", m->target);
	if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot mount %s on %s", m->source, m->target);
	return 0;
}

int mounts_make(int root, const struct mount *mounts, size_t count, struct err *e)
{
	for (const struct mount *m = mounts; m < mounts + count; m++) {
		int r = m->type != NULL ? mount_file_system(root, m, e) : bind(root, m, e);

		if (r < 0)
			return r;
	}
	return 0;
}
