/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/guard.h"
#include "model/cgroup_place.h"
#include "model/limits.h"

enum {
	SETTINGS_MAX = 4,
	PROC_FILE_MAX = 1 << 20, /* /proc/self/mountinfo of a host with thousands of mounts */
	REMOVE_TRIES = 1000,     /* processes that were killed need a moment to end: 10 s */
	REMOVE_PAUSE_NS = 10 * 1000 * 1000,
};

/* One line of a limit, as v1 [0] and v2 [1] write it. */
struct setting {
	const char *controller;
	const char *file[2];
	char value[2][32];
	bool optional; /* kernels without swap accounting do not have the file */
	const struct cgroup_tree *tree;
};

static void add_setting(struct setting *s, const char *controller, const char *v1_file,
			const char *v2_file, uint64_t value)
{
	*s = (struct setting){ .controller = controller, .file = { v1_file, v2_file } };
	snprintf(s->value[0], sizeof s->value[0], "%" PRIu64, value);
	snprintf(s->value[1], sizeof s->value[1], "%" PRIu64, value);
}

static size_t list_settings(const struct limits *l, struct setting list[SETTINGS_MAX])
{
	struct setting *s = list;

	if (l->memory_bytes != 0) {
		/* Memory and swap share the limit: one that is escaped by swapping is none.
		 * v1 counts both together, and wants the smaller file first. */
		add_setting(s++, "memory", "memory.limit_in_bytes", "memory.max", l->memory_bytes);
		add_setting(s, "memory", "memory.memsw.limit_in_bytes", "memory.swap.max",
			    l->memory_bytes);
		strcpy(s->value[1], "0");
		s++->optional = true;
	}
	if (l->cpu_quota_us != 0) {
		add_setting(s, "cpu", "cpu.cfs_quota_us", "cpu.max", l->cpu_quota_us);
		snprintf(s->value[1], sizeof s->value[1], "%" PRIu64 " %d", l->cpu_quota_us,
			 LIMIT_CPU_PERIOD_US);
		s++;
	}
	if (l->pids != 0)
		add_setting(s++, "pids", "pids.max", "pids.max", l->pids);
	return (size_t)(s - list);
}

static int write_in(const char *dir, const char *name, const char *value, struct err *e)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return file_write(path, value, strlen(value), e);
}

/* True for any but the root cgroup, which has no type, if processes are in it: us, for example. */
static bool has_members(const char *dir)
{
	char path[PATH_MAX + 32];
	autoclose int members = -1;
	char first;

	snprintf(path, sizeof path, "%s/cgroup.type", dir);
	if (access(path, F_OK) < 0)
		return false;
	snprintf(path, sizeof path, "%s/cgroup.procs", dir);
	members = open(path, O_RDONLY | O_CLOEXEC);
	return members >= 0 && read(members, &first, 1) == 1;
}

/* Lets the children of this cgroup have the controllers ("+memory +cpu "). */
static int hand_down(const char *dir, const char *controllers, struct err *e)
{
	/* The kernel would take "+pids" and "+cpu", and make threaded cgroups of the children, which
	 * no process can be born in: cgroups(7), "Thread mode". */
	if (has_members(dir))
		return err_set(e, EBUSY, "%s has processes of its own", dir);
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0)
		return err_set(e, errno, "cannot create a cgroup in %s", dir);
	return write_in(dir, "cgroup.subtree_control", controllers, e);
}

/* Cuts place->dir back to the nearest cgroup that can hand the controllers down. */
static int find_giver(struct cgroup_place *place, const char *controllers, struct err *e)
{
	for (;;) {
		int r = hand_down(place->dir, controllers, e);
		char *slash = strrchr(place->dir + place->mount_len, '/');

		if (r == 0)
			return 0;
		if (slash == NULL)
			break;
		*slash = '\0';
	}
	if (e->code == ENOENT || e->code == EINVAL)
		return err_set(e, ENOENT, "%s does not have all the controllers: %s", place->dir,
			       controllers);
	return -e->code;
}

static int add_tree(struct cgroup *cgroup, const struct cgroup_place *place, const char *name,
		    const struct cgroup_tree **ret, struct err *e)
{
	struct cgroup_tree *tree = &cgroup->trees[cgroup->count];
	int n = snprintf(tree->dir, sizeof tree->dir, "%s/%s", place->dir, name);

	if (n < 0 || (size_t)n >= sizeof tree->dir)
		return err_set(e, ENAMETOOLONG, "cannot create a cgroup in %s", place->dir);
	tree->unified = place->unified;
	*ret = tree;
	for (size_t i = 0; i < cgroup->count; i++)
		if (strcmp(cgroup->trees[i].dir, tree->dir) == 0) {
			*ret = &cgroup->trees[i]; /* v1 with two controllers in one tree */
			return 0;
		}
	cgroup->count++;
	return 0;
}

struct search {
	char own[PROC_FILE_MAX], mounts[PROC_FILE_MAX];
	struct cgroup_place place;
};

/* Chooses a tree for each setting, and so the paths; makes nothing. */
static int choose_trees(struct cgroup *cgroup, struct setting *settings, size_t count,
			const char *name, struct err *e)
{
	autofree struct search *s = malloc(sizeof *s);
	const struct cgroup_tree *unified = NULL;
	const char *v2_controller = NULL;
	char controllers[64] = "";
	int r;

	if (s == NULL)
		return err_set(e, ENOMEM, "cannot look for our cgroup");
	r = file_read("/proc/self/cgroup", s->own, sizeof s->own, e);
	if (r == 0)
		r = file_read("/proc/self/mountinfo", s->mounts, sizeof s->mounts, e);
	for (size_t i = 0; i < count && r == 0; i++) {
		const char *controller = settings[i].controller;

		r = cgroup_place_find(s->own, s->mounts, controller, &s->place, e);
		if (r == 0 && !s->place.unified)
			r = add_tree(cgroup, &s->place, name, &settings[i].tree, e);
		if (r < 0 || !s->place.unified)
			continue;
		if (v2_controller != controller) /* memory has two settings */
			snprintf(controllers + strlen(controllers),
				 sizeof controllers - strlen(controllers), "+%s ", controller);
		v2_controller = controller;
	}
	if (r == 0 && v2_controller != NULL) {
		r = cgroup_place_find(s->own, s->mounts, v2_controller, &s->place, e);
		if (r == 0)
			r = find_giver(&s->place, controllers, e);
		if (r == 0)
			r = add_tree(cgroup, &s->place, name, &unified, e);
		for (size_t i = 0; i < count && r == 0; i++)
			if (settings[i].tree == NULL)
				settings[i].tree = unified;
	}
	return r;
}

static int make_trees(const struct cgroup *cgroup, const struct setting *settings, size_t count,
		      struct err *e)
{
	for (size_t i = 0; i < cgroup->count; i++)
		if (mkdir(cgroup->trees[i].dir, 0755) < 0)
			return err_set(e, errno, "cannot create %s", cgroup->trees[i].dir);
	for (size_t i = 0; i < count; i++) {
		const struct setting *s = &settings[i];
		int r = write_in(s->tree->dir, s->file[s->tree->unified],
				 s->value[s->tree->unified], e);

		if (r < 0 && !(s->optional && r == -ENOENT))
			return r;
	}
	return 0;
}

/* SIGKILL for the first hundreds of members; the rest, and what was forked meanwhile, is met in
 * the next round. */
static void kill_members(int dir)
{
	char text[4096], *line = text, *end;
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid > 0)                      /* 0: a process outside of our PID namespace */
			(void)kill(pid, SIGKILL); /* it may just have ended */
	}
}

/* Removes the cgroup `name` and those that the container made beneath it, deepest first.
 * Returns 0 or -errno; -EBUSY while a killed process is still on its way out. */
static int remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL)
		return errno == ENOENT ? 0 : -errno;
	kill_members(fd);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			(void)remove_tree(fd, entry->d_name); /* what stays is met again below */
	(void)closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_all(const void *arg)
{
	const struct cgroup *cgroup = arg;
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
	int r = 0;

	for (int tries = 0; tries < REMOVE_TRIES; tries++) {
		r = 0;
		for (size_t i = 0; i < cgroup->count; i++) {
			int one = remove_tree(AT_FDCWD, cgroup->trees[i].dir);

			r = one < 0 ? one : r;
		}
		if (r == 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return r;
}

int cgroup_create(const struct limits *limits, struct cgroup *ret, struct err *e)
{
	struct setting settings[SETTINGS_MAX] = { 0 };
	size_t count = list_settings(limits, settings);
	struct timespec now;
	char name[48];
	int r;

	/* Launchers in two PID namespaces may have the same pid, hence the time. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(name, sizeof name, "timens-run-%d-%" PRIx64, getpid(),
		 (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	ret->count = 0;
	r = choose_trees(ret, settings, count, name, e);
	if (r == 0) /* before the first mkdir, so that there is no moment without it */
		r = guard_start(remove_all, ret, &ret->guard, e);
	if (r < 0) {
		ret->count = 0;
	} else if ((r = make_trees(ret, settings, count, e)) < 0) {
		struct err ignored; /* the first failure is the one to tell */

		(void)cgroup_remove(ret, &ignored);
	}
	if (r == -EACCES || r == -EPERM || r == -EBUSY)
		return err_hint(e, "limits need root, or a delegated cgroup: "
				   "systemd-run --user --scope -p Delegate=yes COMMAND");
	return r;
}

int cgroup_open_for_clone(const struct cgroup *cgroup, int *ret_fd, struct err *e)
{
	*ret_fd = -1;
	for (size_t i = 0; i < cgroup->count; i++) {
		if (!cgroup->trees[i].unified)
			continue;
		*ret_fd = open(cgroup->trees[i].dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (*ret_fd < 0)
			return err_set(e, errno, "cannot open %s", cgroup->trees[i].dir);
	}
	return 0;
}

int cgroup_attach(const struct cgroup *cgroup, pid_t pid, struct err *e)
{
	char text[16];

	snprintf(text, sizeof text, "%d", pid);
	for (size_t i = 0; i < cgroup->count; i++) {
		int r = 0;

		if (!cgroup->trees[i].unified)
			r = write_in(cgroup->trees[i].dir, "cgroup.procs", text, e);
		if (r < 0)
			return r;
	}
	return 0;
}

int cgroup_remove(struct cgroup *cgroup, struct err *e)
{
	int r;

	if (cgroup->count == 0)
		return 0;
	r = guard_end(cgroup->guard);
	if (r < 0) /* it was killed, or lacks memory: once more by ourselves */
		r = remove_all(cgroup);
	if (r < 0)
		return err_set(e, -r, "cannot remove %s", cgroup->trees[0].dir);
	cgroup->count = 0;
	return 0;
}
