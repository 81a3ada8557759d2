/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/cgroup_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "model/bundle.h"

enum { PROC_FILE_MAX = 1 << 20 };

/* Where the tree with this controller ("" for v2) is mounted, and how deep in it that is. */
static bool find_mount(char *mountinfo, const char *controller, char **ret_root, char **ret_point)
{
	char *line;

	while ((line = text_next_field(&mountinfo, '\n')) != NULL) {
		char *fields = line, *after = strstr(line, " - "), *type, *options;

		if (after == NULL)
			continue;
		*after = '\0';
		after += 3;
		type = text_next_field(&after, ' ');
		(void)text_next_field(&after, ' ');
		options = text_next_field(&after, ' ');
		if (*controller == '\0' ? strcmp(type, "cgroup2") != 0
					: strcmp(type, "cgroup") != 0 || options == NULL ||
						  !text_list_has(options, controller))
			continue;
		for (int i = 0; i < 3; i++)
			(void)text_next_field(&fields, ' ');
		*ret_root = text_next_field(&fields, ' ');
		*ret_point = text_next_field(&fields, ' ');
		return *ret_point != NULL;
	}
	return false;
}

static int add_dir(struct cgroup_set *set, const char *controllers, const char *point,
		   const char *own, const char *path, struct err *e)
{
	struct cgroup_dir *d = &set->dirs[set->count];
	const char *beneath = path[0] == '/' ? "" : strcmp(own, "/") == 0 ? "" : own;

	if (set->count == CGROUP_SET_MAX)
		return err_set(e, E2BIG, "this host has more than %d cgroup trees", CGROUP_SET_MAX);
	*d = (struct cgroup_dir){ .unified = *controllers == '\0', .mount_length = strlen(point) };
	snprintf(d->controllers, sizeof d->controllers, "%s", controllers);
	if (asprintf(&d->dir, "%s%s%s%s", point, beneath, path[0] == '/' ? "" : "/", path) < 0)
		return err_set(e, ENOMEM, "cannot keep the path of a cgroup");
	for (char *end = d->dir + strlen(d->dir) - 1; end > d->dir && *end == '/'; end--)
		*end = '\0';
	set->count++;
	return 0;
}

static int choose_in_tree(char *line, const char *mountinfo, const char *path,
			  struct cgroup_set *ret, struct err *e)
{
	autofree char *mounts = strdup(mountinfo);
	char *rest = line, *controllers, *own, *root = NULL, *point = NULL, first[80];

	(void)text_next_field(&rest, ':');
	controllers = text_next_field(&rest, ':');
	own = rest;
	if (mounts == NULL)
		return err_set(e, ENOMEM, "cannot look for cgroups");
	if (own == NULL)
		return 0;
	snprintf(first, sizeof first, "%.*s", (int)strcspn(controllers, ","), controllers);
	if (!find_mount(mounts, first, &root, &point))
		return 0; /* not mounted here: nobody expects us in it */
	/* What is mounted may be a part of the tree, and then we count from there. */
	if (strcmp(root, "/") != 0 && strncmp(own, root, strlen(root)) == 0)
		own += strlen(root);
	if (strncmp(controllers, "name=", 5) != 0 && strlen(controllers) >= 80)
		return err_set(e, ENAMETOOLONG, "the list of controllers %s", controllers);
	return add_dir(ret, controllers, point, *own != '\0' ? own : "/", path, e);
}

int cgroup_set_choose(const char *path, const char *id, struct cgroup_set *ret, struct err *e)
{
	autofree char *own = malloc(PROC_FILE_MAX), *mounts = malloc(PROC_FILE_MAX);
	char fallback[300], *rest = own, *line;
	int r;

	if (own == NULL || mounts == NULL)
		return err_set(e, ENOMEM, "cannot look for cgroups");
	/* With our number: other roots may have a container of the same id. */
	snprintf(fallback, sizeof fallback, "/timens-oci/%s-%d", id, getpid());
	if (path == NULL || *path == '\0')
		path = fallback;
	if (strstr(path, "..") != NULL)
		return err_set(e, EINVAL, "'cgroupsPath' %s has dots in it", path);
	if (strchr(path, ':') != NULL)
		return err_set(e, ENOTSUP,
			       "'cgroupsPath' %s is one of systemd, which is not "
			       "supported: let the engine manage cgroups as files",
			       path);
	r = file_read("/proc/self/cgroup", own, PROC_FILE_MAX, e);
	if (r == 0)
		r = file_read("/proc/self/mountinfo", mounts, PROC_FILE_MAX, e);
	while (r == 0 && (line = text_next_field(&rest, '\n')) != NULL)
		r = choose_in_tree(line, mounts, path, ret, e);
	return r;
}

static int write_in(const char *dir, const char *file, const char *value, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s", dir, file);

	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(e, ENAMETOOLONG, "cannot write %s in %s", file, dir);
	return file_write(path, value, strlen(value), e);
}

/* A new cpuset of v1 has no processors and no memory: nobody could enter it. */
static int inherit_cpuset(const char *parent, const char *dir, struct err *e)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };

	for (size_t i = 0; i < 2; i++) {
		char path[PATH_MAX], value[4096];
		int r;

		snprintf(path, sizeof path, "%.3900s/%s", dir, files[i]);
		r = file_read(path, value, sizeof value, e);
		if (r < 0)
			return r;
		if (value[0] != '\0' && value[0] != '\n')
			continue;
		snprintf(path, sizeof path, "%.3900s/%s", parent, files[i]);
		r = file_read(path, value, sizeof value, e);
		if (r == 0)
			r = write_in(dir, files[i], value, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* All of them: which controllers a v2 cgroup has is decided by its parents. */
static void hand_down(const char *dir)
{
	char path[PATH_MAX], all[1024], *rest = all, *word;
	struct err ignored;

	snprintf(path, sizeof path, "%.3900s/cgroup.controllers", dir);
	if (file_read(path, all, sizeof all, &ignored) < 0)
		return;
	all[strcspn(all, "\n")] = '\0';
	while ((word = text_next_field(&rest, ' ')) != NULL) {
		char line[80];

		/* One that cannot be handed down is missed when its limit is written. */
		snprintf(line, sizeof line, "+%.70s", word);
		(void)write_in(dir, "cgroup.subtree_control", line, &ignored);
	}
}

/* Makes the cgroup and those above it; only the last one counts as ours. */
static int make_dir(struct cgroup_dir *d, struct err *e)
{
	bool cpuset = text_list_has(d->controllers, "cpuset");
	char *slash = d->dir + d->mount_length;

	while (slash != NULL) {
		autofree char *parent = strndup(d->dir, (size_t)(slash - d->dir));
		autofree char *here = NULL;
		char *next = strchr(slash + 1, '/');
		int made;

		here = strndup(d->dir, next != NULL ? (size_t)(next - d->dir) : strlen(d->dir));
		if (parent == NULL || here == NULL)
			return err_set(e, ENOMEM, "cannot make %s", d->dir);
		if (d->unified)
			hand_down(parent);
		made = mkdir(here, 0755);
		if (made < 0 && errno != EEXIST)
			return err_set(e, errno, "cannot make %s", here);
		d->made = made == 0;
		if (cpuset && inherit_cpuset(parent, here, e) < 0)
			return -e->code;
		slash = next;
	}
	return 0;
}

static bool has_members(const struct cgroup_dir *d)
{
	char path[PATH_MAX], text[64] = "";
	autoclose int fd = -1;

	snprintf(path, sizeof path, "%.3900s/cgroup.procs", d->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text) > 0;
}

int cgroup_set_check_unused(const struct cgroup_set *set, struct err *e)
{
	for (size_t i = 0; i < set->count; i++)
		if (has_members(&set->dirs[i]))
			return err_set(e, EBUSY, "the cgroup %s has processes already",
				       set->dirs[i].dir);
	return 0;
}

int cgroup_set_make(struct cgroup_set *set, bool unprivileged, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct cgroup_dir *d = &set->dirs[i];
		int r = d->dir[d->mount_length] == '\0'
				? err_set(e, EINVAL, "'cgroupsPath' is the root of %s", d->dir)
				: make_dir(d, e);

		if (unprivileged && (r == -EACCES || r == -EPERM || r == -EROFS)) {
			free(d->dir);
			continue;
		}
		if (r < 0)
			return r;
		/* Empty ones of the same name are leftovers of an engine: ours from now on. */
		d->made = true;
		set->dirs[kept++] = *d;
	}
	set->count = kept;
	return 0;
}

static const struct cgroup_dir *v1_tree_of(const struct cgroup_set *set, const char *controller)
{
	const char *old = strcmp(controller, "io") == 0 ? "blkio" : controller;

	for (size_t i = 0; i < set->count; i++)
		if (!set->dirs[i].unified && text_list_has(set->dirs[i].controllers, old))
			return &set->dirs[i];
	return NULL;
}

static const struct cgroup_dir *v2_tree(const struct cgroup_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->dirs[i].unified)
			return &set->dirs[i];
	return NULL;
}

static bool has_twin(const struct cgroup_setting *s, const struct cgroup_setting *all, size_t count)
{
	const char *name = strcmp(s->controller, "blkio") == 0 ? "io" : s->controller;

	for (size_t i = 0; i < count; i++)
		if (all[i].unified && strcmp(all[i].controller, name) == 0)
			return true;
	return false;
}

int cgroup_set_limit(const struct cgroup_set *set, const struct cgroup_setting *settings,
		     size_t count, struct err *e)
{
	for (const struct cgroup_setting *s = settings; s < settings + count; s++) {
		const struct cgroup_dir *d = v1_tree_of(set, s->controller);
		int r;

		if (s->unified && d != NULL && !s->alone)
			continue; /* its v1 twin says the same */
		if (s->unified)
			d = v2_tree(set);
		else if (d == NULL && !s->alone && (s->optional || has_twin(s, settings, count)))
			continue;
		if (d == NULL)
			return err_set(e, ENOENT,
				       "no cgroup tree has the controller %s, needed "
				       "for %s",
				       s->controller, s->file);
		r = write_in(d->dir, s->file, s->value, e);
		if (r == -ENOENT && !s->optional)
			return err_set(e, ENOENT, "cannot limit by %s: %s does not have it",
				       s->file, d->dir);
		if (r < 0 && !s->optional)
			return r;
	}
	return 0;
}

int cgroup_set_open_entries(const struct cgroup_set *set, int ret_entries[static CGROUP_SET_MAX],
			    struct err *e)
{
	for (size_t i = 0; i < set->count; i++)
		ret_entries[i] = -1;
	for (size_t i = 0; i < set->count; i++) {
		const struct cgroup_dir *d = &set->dirs[i];
		char path[PATH_MAX];
		int n = snprintf(path, sizeof path, "%s%s", d->dir, d->unified ? "" : "/tasks");

		errno = ENAMETOOLONG;
		if (n > 0 && (size_t)n < sizeof path)
			ret_entries[i] = open(path, (d->unified ? O_PATH : O_WRONLY) | O_CLOEXEC);
		if (ret_entries[i] < 0) {
			(void)err_set(e, errno, "cannot open the cgroup %s", d->dir);
			cgroup_set_close_entries(set, ret_entries);
			return -e->code;
		}
	}
	return 0;
}

void cgroup_set_close_entries(const struct cgroup_set *set, int entries[static CGROUP_SET_MAX])
{
	for (size_t i = 0; i < set->count; i++)
		if (entries[i] >= 0)
			close(take_fd(&entries[i]));
}

int cgroup_set_unified_entry(const struct cgroup_set *set, const int entries[static CGROUP_SET_MAX])
{
	for (size_t i = 0; i < set->count; i++)
		if (set->dirs[i].unified)
			return entries[i];
	return -1;
}

int cgroup_set_enter(const struct cgroup_set *set, const int entries[static CGROUP_SET_MAX],
		     struct err *e)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->dirs[i].unified && write(entries[i], "0", 1) != 1)
			return err_set(e, errno, "cannot enter the cgroup %s", set->dirs[i].dir);
	return 0;
}

int cgroup_set_attach_unified(const struct cgroup_set *set, pid_t pid, struct err *e)
{
	const struct cgroup_dir *d = v2_tree(set);
	char text[16];

	if (d == NULL)
		return 0;
	snprintf(text, sizeof text, "%d", pid);
	return write_in(d->dir, "cgroup.procs", text, e);
}
