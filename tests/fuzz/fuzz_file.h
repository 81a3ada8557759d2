/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz_file.h - for readers that want the path of a file: a folder in memory, removed at the end */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fuzz_folder[] = "/dev/shm/timens-fuzz-XXXXXX";
static char fuzz_path[64];

static void fuzz_remove_file(void)
{
	(void)unlink(fuzz_path);
	(void)rmdir(fuzz_folder);
}

/* The path of a file of that name with the input in it; the name is the same in each call. */
static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	int fd;

	if (fuzz_path[0] == '\0') {
		if (mkdtemp(fuzz_folder) == NULL || atexit(fuzz_remove_file) != 0)
			abort();
		snprintf(fuzz_path, sizeof fuzz_path, "%s/%s", fuzz_folder, name);
	}
	fd = open(fuzz_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) < 0)
		abort();
	return fuzz_path;
}
