/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/bundle_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "model/bundle.h"

static int bind_from_host(int root, const struct bundle_device *d, struct err *e)
{
	autoclose int tree = open_tree(AT_FDCWD, d->path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	autoclose int target = -1;
	struct stat s;
	int r;

	if (tree < 0 || fstat(tree, &s) < 0)
		return err_set(e, errno, "cannot make %s, nor bind it from the host", d->path);
	if (!S_ISFIFO(d->mode) && s.st_rdev != makedev(d->major, d->minor))
		return err_set(e, ENODEV, "cannot make %s, and the host's is another device",
			       d->path);
	r = file_make_mount_point(root, d->path, false, &target, e);
	if (r < 0)
		return r;
	if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot bind %s", d->path);
	return 0;
}

static int make_device(int root, const struct bundle_device *d, struct err *e)
{
	autofree char *folder = strndup(d->path, (size_t)(strrchr(d->path, '/') - d->path));
	const char *name = strrchr(d->path, '/') + 1;
	autoclose int dir = -1;
	struct stat s;
	int r;

	if (folder == NULL)
		return err_set(e, ENOMEM, "cannot make %s", d->path);
	r = file_make_target(root, *folder != '\0' ? folder : "/", true, &dir, e);
	if (r < 0)
		return r;
	if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (s.st_mode & S_IFMT) == (d->mode & S_IFMT) &&
	    (S_ISFIFO(d->mode) || s.st_rdev == makedev(d->major, d->minor)))
		return 0; /* the image or a mount has it */
	if (mknodat(dir, name, d->mode, makedev(d->major, d->minor)) < 0)
		return errno == EPERM || errno == EEXIST
			       ? bind_from_host(root, d, e)
			       : err_set(e, errno, "cannot make %s", d->path);
	if (fchownat(dir, name, d->uid, d->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(e, errno, "cannot give %s its owner", d->path);
	return 0;
}

static bool is_listed(const struct bundle *b, const char *path)
{
	for (size_t i = 0; i < b->device_count; i++)
		if (strcmp(b->devices[i].path, path) == 0)
			return true;
	return false;
}

int bundle_devices_make(int root, const struct bundle *bundle, struct err *e)
{
	static const struct bundle_device defaults[] = {
		{ "/dev/null", S_IFCHR | 0666, 1, 3, 0, 0 },
		{ "/dev/zero", S_IFCHR | 0666, 1, 5, 0, 0 },
		{ "/dev/full", S_IFCHR | 0666, 1, 7, 0, 0 },
		{ "/dev/random", S_IFCHR | 0666, 1, 8, 0, 0 },
		{ "/dev/urandom", S_IFCHR | 0666, 1, 9, 0, 0 },
		{ "/dev/tty", S_IFCHR | 0666, 5, 0, 0, 0 },
	};
	static const char *const links[][2] = {
		{ "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" },
		{ "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
		{ "ptmx", "pts/ptmx" },
	};
	autoclose int dev = -1;
	int r = file_make_mount_point(root, "/dev", true, &dev, e);

	/* So mknod(2) sets the whole mode: chmod(2) would follow a link that somebody puts in the
	 * place of the new device.  The program's own umask is set later. */
	(void)umask(0); /* cannot fail */
	for (size_t i = 0; r == 0 && i < sizeof defaults / sizeof *defaults; i++)
		if (!is_listed(bundle, defaults[i].path))
			r = make_device(root, &defaults[i], e);
	for (size_t i = 0; r == 0 && i < bundle->device_count; i++)
		r = make_device(root, &bundle->devices[i], e);
	for (size_t i = 0; r == 0 && i < sizeof links / sizeof *links; i++)
		if (symlinkat(links[i][1], dev, links[i][0]) < 0 && errno != EEXIST)
			r = err_set(e, errno, "cannot make /dev/%s", links[i][0]);
	return r;
}

static int bind_console(int root, int peer, struct err *e)
{
	autoclose int target = -1;
	autoclose int tree =
		open_tree(peer, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	int r = file_make_mount_point(root, "/dev/console", false, &target, e);

	if (r < 0)
		return r;
	if (tree < 0 ||
	    move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot bind /dev/console");
	return 0;
}

int bundle_terminal_open(int root, const struct bundle *bundle, int *ret_terminal, struct err *e)
{
	autoclose int ours = file_open_beneath(root, "/dev/pts/ptmx", O_RDWR | O_NOCTTY);
	autoclose int peer = -1;
	struct winsize size = { .ws_row = bundle->terminal_rows,
				.ws_col = bundle->terminal_columns };
	int unlocked = 0, r;

	if (ours < 0)
		return err_set(e, -ours, "cannot open a terminal in /dev/pts of the container");
	if (ioctl(ours, TIOCSPTLCK, &unlocked) < 0)
		return err_set(e, errno, "cannot unlock the terminal");
	peer = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (peer < 0)
		return err_set(e, errno, "cannot open the terminal");
	if (size.ws_row != 0 && ioctl(peer, TIOCSWINSZ, &size) < 0)
		return err_set(e, errno, "cannot set the size of the terminal");
	r = bundle->id != NULL ? bind_console(root, peer, e) : 0;
	if (r < 0)
		return r;
	if (ioctl(peer, TIOCSCTTY, 0) < 0)
		return err_set(e, errno, "cannot make it the controlling terminal");
	for (int stream = 0; stream < 3; stream++)
		if (dup2(peer, stream) < 0)
			return err_set(e, errno, "cannot make it a standard stream");
	*ret_terminal = take_fd(&ours);
	return 0;
}
