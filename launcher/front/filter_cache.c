/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/filter_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "front/seccomp_profile.h"

/* To be raised when the compiler (seccomp_profile.c, bpf_compact.c) makes another program. */
#define MADE_BY "timens filter 1"

enum { ENTRIES_MAX = 64, KEY_MAX = 256 * 1024, INSTRUCTIONS_MAX = BPF_MAXINSNS };

/* Followed by the key and the instructions; read by the machine that wrote it. */
struct header {
	uint64_t checksum; /* of all that follows */
	uint32_t key_length, flags, count, reserved;
};

/* FNV-1a: finds entries and damage.  It keeps no secret: the key itself is compared as well. */
static uint64_t digest(uint64_t from, const void *bytes, size_t length)
{
	for (const unsigned char *p = bytes; length-- > 0; p++)
		from = (from ^ *p) * UINT64_C(1099511628211);
	return from;
}

static const uint64_t DIGEST_START = UINT64_C(14695981039346656037);

int filter_key_make(const char *profile, const struct profile_facts *facts, struct filter_key *ret,
		    struct err *e)
{
	struct utsname host = { 0 };
	int n;

	/* The kernel, because libseccomp asks it what it can do. */
	(void)uname(&host); /* fails only for a bad pointer */
	n = asprintf(&ret->bytes, "%s\n%s\n%s %s\n%" PRIx64 " %u.%u %d\n%s", MADE_BY,
		     seccomp_profile_compiler(), host.machine, host.release, facts->capabilities,
		     facts->kernel_version[0], facts->kernel_version[1], facts->has_agent, profile);
	if (n < 0)
		return err_set(e, ENOMEM, "cannot keep 'linux.seccomp'");
	ret->length = (size_t)n;
	return 0;
}

static void name_entry(const struct filter_key *key, char name[static 17])
{
	snprintf(name, 17, "%016" PRIx64, digest(DIGEST_START, key->bytes, key->length));
}

static bool is_ours(int fd, mode_t type, mode_t mode)
{
	struct stat s;

	return fstat(fd, &s) == 0 && (s.st_mode & S_IFMT) == type && s.st_uid == geteuid() &&
	       (s.st_mode & 07777) == mode;
}

/* Returns the fd or -1. */
static int open_folder(const char *root)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/@filters", root);
	autoclose int fd = -1;

	if (n < 0 || (size_t)n >= sizeof path)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && is_ours(fd, S_IFDIR, 0700) ? take_fd(&fd) : -1;
}

/* The whole entry, to be freed, or NULL. */
static char *read_entry(int folder, const char *name, size_t *ret_length)
{
	enum { MAX = sizeof(struct header) + KEY_MAX + INSTRUCTIONS_MAX * 8 };
	autoclose int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autofree char *bytes = NULL;
	struct stat s;
	char *taken;

	if (fd < 0 || !is_ours(fd, S_IFREG, 0600) || fstat(fd, &s) < 0 || s.st_size > MAX ||
	    (size_t)s.st_size < sizeof(struct header))
		return NULL;
	bytes = malloc((size_t)s.st_size);
	if (bytes == NULL || read(fd, bytes, (size_t)s.st_size) != s.st_size)
		return NULL;
	*ret_length = (size_t)s.st_size;
	taken = bytes;
	bytes = NULL;
	return taken;
}

static bool holds(const char *bytes, size_t length, const struct header *h,
		  const struct filter_key *key)
{
	const size_t after = sizeof h->checksum;

	return h->key_length == key->length && h->count > 0 && h->count <= INSTRUCTIONS_MAX &&
	       length == sizeof *h + key->length + h->count * sizeof(struct sock_filter) &&
	       h->checksum == digest(DIGEST_START, bytes + after, length - after) &&
	       memcmp(bytes + sizeof *h, key->bytes, key->length) == 0;
}

int filter_cache_find(const char *root, const struct filter_key *key, struct seccomp_filter *ret)
{
	autoclose int folder = open_folder(root);
	autofree char *bytes = NULL;
	struct sock_filter *code;
	struct header h;
	char name[17];
	size_t length;

	if (folder < 0)
		return -ENOENT;
	name_entry(key, name);
	bytes = read_entry(folder, name, &length);
	if (bytes == NULL)
		return -ENOENT;
	memcpy(&h, bytes, sizeof h);
	if (!holds(bytes, length, &h, key))
		return -ENOENT;
	code = malloc(h.count * sizeof *code);
	if (code == NULL)
		return -ENOENT;
	memcpy(code, bytes + sizeof h + key->length, h.count * sizeof *code);
	ret->program = (struct sock_fprog){ (unsigned short)h.count, code };
	ret->flags = h.flags;
	return 0;
}

/* Half-written files of a creator that was killed count as entries: they grow old as well. */
static void remove_oldest(int folder)
{
	DIR *dir = fdopendir(fcntl(folder, F_DUPFD_CLOEXEC, 0));
	char oldest[NAME_MAX + 1] = "";
	struct timespec then = { 0 };
	size_t count = 0;

	for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
		struct stat s;

		if (d->d_name[0] == '.' || fstatat(folder, d->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		count++;
		if (*oldest != '\0' &&
		    (s.st_mtim.tv_sec > then.tv_sec ||
		     (s.st_mtim.tv_sec == then.tv_sec && s.st_mtim.tv_nsec >= then.tv_nsec)))
			continue;
		then = s.st_mtim;
		snprintf(oldest, sizeof oldest, "%s", d->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (count > ENTRIES_MAX)
		(void)unlinkat(folder, oldest, 0); /* a creator beside us may have been faster */
}

void filter_cache_keep(const char *root, const struct filter_key *key,
		       const struct seccomp_filter *filter)
{
	const size_t code = filter->program.len * sizeof *filter->program.filter;
	const size_t length = sizeof(struct header) + key->length + code;
	struct header h = { .key_length = (uint32_t)key->length,
			    .flags = filter->flags,
			    .count = filter->program.len };
	autofree char *bytes = malloc(length);
	autoclose int folder = -1, fd = -1;
	char name[17], fresh[40], path[PATH_MAX];

	if (bytes == NULL || key->length > KEY_MAX)
		return;
	snprintf(path, sizeof path, "%.4000s/@filters", root);
	(void)mkdir(path, 0700); /* is there, or open_folder() fails */
	folder = open_folder(root);
	if (folder < 0)
		return;
	memcpy(bytes + sizeof h, key->bytes, key->length);
	memcpy(bytes + sizeof h + key->length, filter->program.filter, code);
	memcpy(bytes, &h, sizeof h);
	h.checksum = digest(DIGEST_START, bytes + sizeof h.checksum, length - sizeof h.checksum);
	memcpy(bytes, &h, sizeof h);
	name_entry(key, name);
	snprintf(fresh, sizeof fresh, "%s.%d", name, getpid());
	fd = openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, bytes, length) != (ssize_t)length ||
	    renameat(folder, fresh, folder, name) < 0) {
		(void)unlinkat(folder, fresh, 0); /* grows old there */
		return;
	}
	remove_oldest(folder);
}
