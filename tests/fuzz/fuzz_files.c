/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /etc/passwd and /etc/group of an image: hostile input, read as files. */
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "front/accounts.h"
#include "fuzz.h"

static char folder[] = "/tmp/timens-fuzz-XXXXXX";

static void remove_folder(void)
{
	if (chdir(folder) < 0)
		return;
	(void)unlink("etc/passwd");
	(void)unlink("etc/group");
	(void)rmdir("etc");
	(void)rmdir(folder);
}

static int make_folder(void)
{
	int root;

	assert(mkdtemp(folder) != NULL);
	root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert(root >= 0 && mkdirat(root, "etc", 0755) == 0 && atexit(remove_folder) == 0);
	return root;
}

static void write_file(int root, const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(root, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int root = -1;
	struct err e = { 0 };
	uint32_t uid, gid;

	if (root < 0)
		root = make_folder();
	write_file(root, "etc/passwd", data, size);
	write_file(root, "etc/group", data, size);
	(void)accounts_find_user(root, "app", &uid, &gid, &e);
	(void)accounts_find_user(root, "1000", &uid, &gid, &e);
	(void)accounts_find_group(root, "web", &gid, &e);
	return 0;
}
