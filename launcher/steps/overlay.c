/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

/* Everything is mounted into a small tmpfs and named relative to it: the options of overlayfs
 * would take a ':' or ',' in a path of the user's for its own. */
static int enter_stage(const char *path, struct err *e)
{
	autoclose int stage = -1;

	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return err_set(e, errno, "cannot mount a tmpfs");
	stage = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (stage < 0 || fchdir(stage) < 0)
		return err_set(e, errno, "cannot enter %s", path);
	if (mkdir("lower", 0755) < 0 || mkdir("kept", 0755) < 0 || mkdir("merged", 0755) < 0)
		return err_set(e, errno, "cannot make the folders of the overlay");
	return 0;
}

/* The root of the merged tree looks like the root of the image. */
static int make_upper(int lower, struct err *e)
{
	struct stat image;

	if (fstat(lower, &image) < 0)
		return err_set(e, errno, "cannot look at the root filesystem");
	if ((mkdir("kept/upper", image.st_mode & 07777) < 0 ||
	     chmod("kept/upper", image.st_mode & 07777) < 0) &&
	    errno != EEXIST)
		return err_set(e, errno, "cannot make the folder upper of the overlay");
	if (mkdir("kept/work", 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the folder work of the overlay");
	return 0;
}

int overlay_mount(int *root, const char *path, const char *kept_dir, bool in_user_namespace,
		  struct err *e)
{
	/* In a user namespace only attributes of the class "user" may be written. */
	const char *options =
		in_user_namespace ? "lowerdir=lower,upperdir=kept/upper,workdir=kept/work,userxattr"
				  : "lowerdir=lower,upperdir=kept/upper,workdir=kept/work";
	autoclose int kept = -1;
	int merged, r;

	if (kept_dir != NULL) { /* now, as the stage may cover it */
		kept = open_tree(AT_FDCWD, kept_dir, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		if (kept < 0)
			return err_set(e, errno, "cannot open %s", kept_dir);
	}
	r = enter_stage(path, e);
	if (r == 0 && move_mount(*root, "", AT_FDCWD, "lower", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = err_set(e, errno, "cannot mount the image as lower layer");
	if (r == 0 && kept >= 0 &&
	    move_mount(kept, "", AT_FDCWD, "kept", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = err_set(e, errno, "cannot mount %s", kept_dir);
	if (r == 0)
		r = make_upper(*root, e);
	if (r < 0)
		return r;
	if (mount("overlay", "merged", "overlay", 0, options) < 0) {
		(void)err_set(e, errno, "cannot mount an overlay");
		return err_hint(e, "in a user namespace it needs Linux 5.11, and DIR on a file "
				   "system with user attributes that is not an overlay itself");
	}
	merged = open("merged", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (merged < 0)
		return err_set(e, errno, "cannot open the overlay");
	close(*root);
	*root = merged;
	return 0;
}
