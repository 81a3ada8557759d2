/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"

static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

static const struct {
	const char *name, *target;
} links[] = {
	{ "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
	{ "ptmx", "pts/ptmx" },
};

int devices_make(int root, struct err *e)
{
	autoclose int dev = file_open_beneath(root, "/dev", O_PATH | O_DIRECTORY);

	if (dev < 0 || fchdir(dev) < 0)
		return err_set(e, dev < 0 ? -dev : errno, "cannot enter /dev");
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		const char *name = devices[i] + sizeof "/dev/" - 1;

		if (mknod(name, S_IFREG | 0666, 0) < 0)
			return err_set(e, errno, "cannot make %s", devices[i]);
		if (mount(devices[i], name, NULL, MS_BIND, NULL) < 0)
			return err_set(e, errno, "cannot bind %s", devices[i]);
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlink(links[i].target, links[i].name) < 0)
			return err_set(e, errno, "cannot make /dev/%s", links[i].name);
	return 0;
}
