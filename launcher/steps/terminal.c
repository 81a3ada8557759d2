/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"

static int bind_console(int root, int slave, struct err *e)
{
	autoclose int target = -1, tree = -1;
	int r = file_make_target(root, "/dev/console", false, &target, e);

	if (r < 0)
		return r;
	tree = open_tree(slave, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (tree < 0 ||
	    move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot bind /dev/console");
	return 0;
}

int terminal_make(int root, uint32_t uid, int *ret_master, struct err *e)
{
	autoclose int master = file_open_beneath(root, "/dev/pts/ptmx", O_RDWR | O_NOCTTY);
	autoclose int slave = -1;
	int r, unlock = 0;

	if (master < 0)
		return err_set(e, -master, "cannot open /dev/pts/ptmx");
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return err_set(e, errno, "cannot unlock the terminal");
	/* Not by its name: that would be another file system's here, and in an image hostile. */
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return err_set(e, errno, "cannot open the terminal");
	if (uid != 0 && fchown(slave, uid, (gid_t)-1) < 0)
		return err_set(e, errno, "cannot give the terminal to user %u", uid);
	r = bind_console(root, slave, e);
	if (r < 0)
		return r;
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		return err_set(e, errno, "cannot take the terminal");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(slave, fd) < 0)
			return err_set(e, errno, "cannot use the terminal");
	*ret_master = take_fd(&master);
	return 0;
}
