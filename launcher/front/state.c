/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "engine/bundle.h"
#include "engine/bundle_life.h"
#include "front/doc.h"

enum { STATE_MAX = 4 << 20, ID_MAX = 255 };

bool state_is_rootless(void)
{
	char map[4096];
	struct err ignored; /* a kernel without user namespaces has none to be in */

	return geteuid() != 0 || (file_read("/proc/self/uid_map", map, sizeof map, &ignored) == 0 &&
				  strstr(map, "4294967295") == NULL);
}

int state_default_root(const char **ret_root, struct err *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char *path;

	*ret_root = "/run/timens-oci";
	if (!state_is_rootless() || run == NULL)
		return 0;
	if (asprintf(&path, "%s/timens-oci", run) < 0)
		return err_set(e, ENOMEM, "cannot keep the path of the state");
	*ret_root = path;
	return 0;
}

static int check_id(const char *id, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_+-.";

	if (*id == '\0' || strlen(id) > ID_MAX || strspn(id, allowed) != strlen(id) ||
	    strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
		return err_set(e, EINVAL, "container id '%s' is not one of letters, digits, _+-.",
			       id);
	return 0;
}

int state_make_folders(const char *path, struct err *e)
{
	autofree char *copy = strdup(path);

	if (copy == NULL)
		return err_set(e, ENOMEM, "cannot make %s", path);
	for (char *p = copy + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0711) < 0 && errno != EEXIST && errno != EROFS)
			return err_set(e, errno, "cannot make %s", copy);
		*p = '/';
	}
	if (mkdir(copy, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s", copy);
	return 0;
}

static int name_folder(const char *root, const char *id, struct state *s, struct err *e)
{
	*s = (struct state){ .id = id, .folder = -1 };
	if (check_id(id, e) < 0)
		return -e->code;
	if (asprintf(&s->path, "%s/%s", root, id) < 0)
		return err_set(e, ENOMEM, "cannot keep the path of the state");
	return 0;
}

int state_create(const char *root, const char *id, struct state *ret, struct err *e)
{
	struct timespec now = { 0 };
	struct tm parts;
	char stamp[40];
	int length;

	if (name_folder(root, id, ret, e) < 0 || state_make_folders(root, e) < 0)
		return -e->code;
	if (mkdir(ret->path, 0711) < 0)
		return errno == EEXIST ? err_set(e, EEXIST, "container '%s' already exists", id)
				       : err_set(e, errno, "cannot make %s", ret->path);
	ret->folder = open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->folder < 0 || flock(ret->folder, LOCK_EX) < 0)
		return err_set(e, errno, "cannot lock %s", ret->path);
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	(void)gmtime_r(&now.tv_sec, &parts);
	length = (int)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(stamp + length, sizeof stamp - (size_t)length, ".%09ldZ", now.tv_nsec);
	ret->created = strdup(stamp);
	return ret->created != NULL ? 0 : err_set(e, ENOMEM, "cannot keep the state");
}

static int read_cgroups(struct state *s, struct err *e)
{
	const struct json *list;
	size_t count;

	if (doc_array(s->document, "cgroups", &list, &count, e) < 0)
		return -e->code;
	if (count > CGROUP_SET_MAX)
		return err_set(e, EINVAL, "'cgroups' has %zu entries", count);
	for (size_t i = 0; i < count; i++) {
		struct cgroup_dir *d = &s->cgroups.dirs[i];
		const char *controllers = "", *dir = "";

		if (doc_text(doc_at(list, i), "controllers", &controllers, e) < 0 ||
		    doc_text(doc_at(list, i), "path", &dir, e) < 0)
			return -e->code;
		snprintf(d->controllers, sizeof d->controllers, "%s", controllers);
		d->unified = *controllers == '\0';
		d->made = true;
		d->dir = (char *)(uintptr_t)dir;
	}
	s->cgroups.count = count;
	return 0;
}

static int read_state(struct state *s, struct err *e)
{
	autofree char *text = malloc(STATE_MAX);
	autoclose int fd = openat(s->folder, "state.json", O_RDONLY | O_CLOEXEC);
	int64_t pid = 0, ticks = 0;

	if (fd < 0 && errno == ENOENT)
		return 0; /* being created, or its creator was killed at once */
	if (fd < 0 || text == NULL)
		return err_set(e, fd < 0 ? errno : ENOMEM, "cannot open the state of '%s'", s->id);
	if (file_read_fd(fd, "state.json", text, STATE_MAX, e) < 0 ||
	    doc_parse(text, strlen(text), s->path, &s->document, e) < 0 ||
	    doc_integer(s->document, "pid", 0, INT_MAX, &pid, e) < 0 ||
	    doc_integer(s->document, "startTicks", 0, INT64_MAX, &ticks, e) < 0 ||
	    doc_text(s->document, "bundle", &s->bundle, e) < 0 ||
	    doc_text(s->document, "ociVersion", &s->version, e) < 0 ||
	    doc_text(s->document, "created", &s->created, e) < 0 ||
	    doc_object(s->document, "annotations", &s->annotations, e) < 0)
		return -e->code;
	s->pid = (pid_t)pid;
	s->start_ticks = (uint64_t)ticks;
	return read_cgroups(s, e);
}

int state_open(const char *root, const char *id, bool lock, struct state *ret, struct err *e)
{
	struct stat s;

	if (name_folder(root, id, ret, e) < 0)
		return -e->code;
	ret->folder = open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->folder < 0)
		return errno == ENOENT ? err_set(e, ENOENT, "container '%s' does not exist", id)
				       : err_set(e, errno, "cannot open %s", ret->path);
	if (lock && flock(ret->folder, LOCK_EX) < 0)
		return err_set(e, errno, "cannot lock %s", ret->path);
	/* While we waited for the lock it may have been deleted. */
	if (fstat(ret->folder, &s) < 0 || s.st_nlink == 0)
		return err_set(e, ENOENT, "container '%s' does not exist", id);
	return read_state(ret, e);
}

static int replace_file(const struct state *s, const char *name, const char *text, size_t length,
			struct err *e)
{
	char fresh[64];
	autoclose int fd = -1;

	snprintf(fresh, sizeof fresh, ".%s.new", name);
	fd = openat(s->folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length ||
	    renameat(s->folder, fresh, s->folder, name) < 0)
		return err_set(e, errno != 0 ? errno : EIO, "cannot write %s/%s", s->path, name);
	return 0;
}

int state_write_config(const struct state *s, const char *text, size_t length, struct err *e)
{
	return replace_file(s, "config.json", text, length, e);
}

static struct json *specified(const struct state *s, const char *status)
{
	struct json *o = doc_new_object();

	doc_set_text(o, "ociVersion", s->version != NULL ? s->version : "1.2.0");
	doc_set_text(o, "id", s->id);
	if (status != NULL)
		doc_set_text(o, "status", status);
	if (s->pid > 0 || status == NULL)
		doc_set_integer(o, "pid", s->pid);
	doc_set_text(o, "bundle", s->bundle != NULL ? s->bundle : "");
	if (s->annotations != NULL)
		doc_set(o, "annotations", doc_keep(s->annotations));
	if (s->created != NULL)
		doc_set_text(o, "created", s->created);
	return o;
}

int state_write(const struct state *s, struct err *e)
{
	struct json *o = specified(s, NULL), *list = doc_new_array();
	autofree char *text = NULL;

	doc_set_integer(o, "startTicks", (int64_t)s->start_ticks);
	for (size_t i = 0; i < s->cgroups.count; i++) {
		struct json *one = doc_new_object();

		doc_set_text(one, "controllers", s->cgroups.dirs[i].controllers);
		doc_set_text(one, "path", s->cgroups.dirs[i].dir);
		doc_append(list, one);
	}
	doc_set(o, "cgroups", list);
	text = doc_format(o, 1);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot keep the state");
	return replace_file(s, "state.json", text, strlen(text), e);
}

char *state_describe(const struct state *s, const char *status, unsigned int indent)
{
	return doc_format(specified(s, status), indent);
}

char *state_introduce(const struct state *s, pid_t pid, const char *metadata)
{
	struct state now = *s;
	struct json *o = doc_new_object(), *fds = doc_new_array();

	now.pid = s->pid > 0 ? s->pid : pid;
	doc_set_text(o, "ociVersion", s->version != NULL ? s->version : "1.2.0");
	doc_append_text(fds, "seccompFd");
	doc_set(o, "fds", fds);
	doc_set_integer(o, "pid", pid);
	if (metadata != NULL)
		doc_set_text(o, "metadata", metadata);
	doc_set(o, "state", specified(&now, s->pid > 0 ? "running" : "creating"));
	return doc_format(o, 0);
}

int state_remove(const struct state *s, struct err *e)
{
	static const char *const files[] = { "start", ".config.json.new", ".state.json.new",
					     "config.json", "state.json" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (unlinkat(s->folder, files[i], 0) < 0 && errno != ENOENT)
			return err_set(e, errno, "cannot remove %s/%s", s->path, files[i]);
	if (rmdir(s->path) < 0 && errno != ENOENT)
		return err_set(e, errno, "cannot remove %s", s->path);
	return 0;
}

uint64_t state_start_ticks(pid_t pid)
{
	enum { FIELDS_BEFORE = 19 }; /* after the name: state is field 3, starttime 22 */
	char path[40], text[1024], *at, state;
	struct err ignored; /* no such process */
	unsigned long long ticks = 0;

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (file_read(path, text, sizeof text, &ignored) < 0)
		return 0;
	at = strrchr(text, ')'); /* the name can have anything in it */
	if (at == NULL || at[1] == '\0')
		return 0;
	at += 2;
	state = *at;
	for (int i = 0; i < FIELDS_BEFORE && at != NULL; i++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	if (at == NULL || state == 'Z' || state == 'X' || sscanf(at, "%llu", &ticks) != 1)
		return 0;
	return ticks;
}

enum state_status state_status(const struct state *s)
{
	int connection;

	if (s->document == NULL || s->pid == 0)
		return STATE_CREATING;
	if (state_start_ticks(s->pid) != s->start_ticks)
		return STATE_STOPPED;
	connection = bundle_connect(s->folder);
	if (connection >= 0) {
		close(connection);
		return STATE_CREATED;
	}
	return bundle_is_frozen(&s->cgroups) ? STATE_PAUSED : STATE_RUNNING;
}

const char *state_word(enum state_status status)
{
	static const char *const words[] = { "creating", "created", "running", "paused",
					     "stopped" };

	return words[status];
}
