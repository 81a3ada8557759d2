/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/cgroup_life.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"

enum { WAIT_TRIES = 10000, WAIT_PAUSE_NS = 1000 * 1000 }; /* 10 s */

static void pause_a_moment(void)
{
	const struct timespec t = { .tv_nsec = WAIT_PAUSE_NS };

	(void)nanosleep(&t, NULL); /* cut short by a signal: the next look comes earlier */
}

/* The tree that can freeze: v2 always, v1 by its controller. */
static const struct cgroup_dir *freezer(const struct cgroup_set *set)
{
	const struct cgroup_dir *found = NULL;

	for (size_t i = 0; i < set->count; i++) {
		if (text_list_has(set->dirs[i].controllers, "freezer"))
			return &set->dirs[i];
		if (set->dirs[i].unified)
			found = &set->dirs[i];
	}
	return found;
}

static int file_of(const struct cgroup_dir *d, const char *name, char path[static PATH_MAX],
		   struct err *e)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", d->dir, name);

	return n > 0 && n < PATH_MAX ? 0 : err_set(e, ENAMETOOLONG, "cannot use %s", d->dir);
}

bool cgroup_set_is_frozen(const struct cgroup_set *set)
{
	const struct cgroup_dir *d = freezer(set);
	char path[PATH_MAX], text[256];
	struct err ignored; /* what is gone is not frozen */

	if (d == NULL || file_of(d, d->unified ? "cgroup.events" : "freezer.state", path, &ignored))
		return false;
	if (file_read(path, text, sizeof text, &ignored) < 0)
		return false;
	return strstr(text, d->unified ? "frozen 1" : "FROZEN") != NULL;
}

int cgroup_set_freeze(const struct cgroup_set *set, bool freeze, struct err *e)
{
	const struct cgroup_dir *d = freezer(set);
	const char *value =
		d != NULL && d->unified ? (freeze ? "1" : "0") : (freeze ? "FROZEN" : "THAWED");
	char path[PATH_MAX];
	int r;

	if (d == NULL)
		return err_set(e, ENOTSUP, "the container has no cgroup that could freeze it");
	r = file_of(d, d->unified ? "cgroup.freeze" : "freezer.state", path, e);
	for (int tries = 0; r == 0 && tries < WAIT_TRIES; tries++) {
		/* v1: a process that was just forked can be missed, so the wish is repeated. */
		r = file_write(path, value, strlen(value), e);
		if (r == 0 && cgroup_set_is_frozen(set) == freeze)
			return 0;
		pause_a_moment();
	}
	return r < 0 ? r : err_set(e, ETIMEDOUT, "some process of the container does not freeze");
}

struct pid_list {
	pid_t *pids;
	size_t count, capacity;
};

static void add_members(int dir, struct pid_list *list)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	if (file == NULL)
		return; /* the cgroup has just been removed */
	while (fscanf(file, "%d", &pid) == 1) {
		if (list->count == list->capacity) {
			size_t capacity = list->capacity * 2 + 64;
			pid_t *more = realloc(list->pids, capacity * sizeof *more);

			if (more == NULL)
				break;
			list->pids = more;
			list->capacity = capacity;
		}
		if (pid > 0) /* 0: in a pid namespace that we cannot see */
			list->pids[list->count++] = pid;
	}
	(void)fclose(file); /* was only read */
}

/* Adds the members of the tree; with `removed` also removes it, deepest first. */
static int walk(int parent, const char *name, struct pid_list *list, bool removed)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL)
		return errno == ENOENT ? 0 : -errno;
	add_members(fd, list);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			(void)walk(fd, entry->d_name, list, removed); /* seen by the rmdir */
	(void)closedir(dir);
	if (!removed)
		return 0;
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int cgroup_set_members(const struct cgroup_set *set, pid_t **ret, size_t *ret_count, struct err *e)
{
	struct pid_list list = { 0 };
	const struct cgroup_dir *d = freezer(set);
	int r;

	if (d == NULL && set->count > 0)
		d = &set->dirs[0];
	if (d == NULL)
		return err_set(e, ENOTSUP, "the container has no cgroup");
	r = walk(AT_FDCWD, d->dir, &list, false);
	if (r < 0) {
		free(list.pids);
		return err_set(e, -r, "cannot list the processes in %s", d->dir);
	}
	*ret = list.pids;
	*ret_count = list.count;
	return 0;
}

void cgroup_set_read(const struct cgroup_set *set, const char *file, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < set->count; i++) {
		char path[PATH_MAX];
		struct err ignored; /* most trees do not have the file */

		if (file_of(&set->dirs[i], file, path, &ignored) == 0 &&
		    file_read(path, text, size, &ignored) == 0)
			return;
		text[0] = '\0';
	}
}

int cgroup_set_remove(const struct cgroup_set *set, struct err *e)
{
	const char *last = "";
	struct err ignored;
	int r = 0;

	for (int tries = 0; tries < WAIT_TRIES; tries++) {
		struct pid_list list = { 0 };

		r = 0;
		for (size_t i = 0; i < set->count; i++) {
			int one = set->dirs[i].made ? walk(AT_FDCWD, set->dirs[i].dir, &list, true)
						    : 0;

			if (one < 0) {
				r = one;
				last = set->dirs[i].dir;
			}
		}
		for (size_t i = 0; i < list.count; i++)
			(void)kill(list.pids[i], SIGKILL); /* it may just have ended */
		free(list.pids);
		if (r == 0)
			return 0;
		if (cgroup_set_is_frozen(set)) /* SIGKILL waits until v1 thaws */
			(void)cgroup_set_freeze(set, false, &ignored);
		pause_a_moment();
	}
	return err_set(e, -r, "cannot remove %s", last);
}
