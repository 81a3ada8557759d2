/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clocks/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

/* The launcher holds a name as an abstract socket (steps/announce.c), which /proc/net/unix lists
 * with its inode. */
static int find_inode(const char *name, char *ret_link, size_t size, struct err *e)
{
	FILE *sockets = fopen("/proc/net/unix", "re");
	char wanted[160], line[512], inode[32], path[256];

	if (sockets == NULL)
		return err_set(e, errno, "cannot open /proc/net/unix");
	if (strchr(name, '/') != NULL)
		(void)snprintf(wanted, sizeof wanted, "@timens-run/%s", name);
	else
		(void)snprintf(wanted, sizeof wanted, "@timens-run/%u/%s", geteuid(), name);
	ret_link[0] = '\0';
	while (ret_link[0] == '\0' && fgets(line, sizeof line, sockets) != NULL)
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %31s %255s", inode, path) == 2 &&
		    strcmp(path, wanted) == 0)
			(void)snprintf(ret_link, size, "socket:[%s]", inode);
	(void)fclose(sockets); /* was only read */
	if (ret_link[0] != '\0')
		return 0;
	(void)err_set(e, ENOENT, "no container '%s' runs here", name);
	return err_hint(
		e, "NAME is that of timens-run --name or the id of timens-oci, UID/NAME that of "
		   "another user; --pid takes any process");
}

static bool holds(pid_t pid, const char *link)
{
	char path[300], target[64];
	struct dirent *entry;
	bool found = false;
	DIR *files;

	(void)snprintf(path, sizeof path, "/proc/%d/fd", pid);
	files = opendir(path); /* fails for the processes of others */
	while (files != NULL && !found && (entry = readdir(files)) != NULL) {
		ssize_t n;

		(void)snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
		n = readlink(path, target, sizeof target - 1);
		if (n > 0) {
			target[n] = '\0';
			found = strcmp(target, link) == 0;
		}
	}
	if (files != NULL)
		(void)closedir(files);
	return found;
}

static pid_t find_holder(const char *link)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (proc != NULL && found == 0 && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && holds(pid, link))
			found = pid;
	}
	if (proc != NULL)
		(void)closedir(proc);
	return found;
}

static ino_t time_namespace_of(pid_t pid)
{
	char path[64];
	struct stat s = { 0 };

	(void)snprintf(path, sizeof path, "/proc/%d/ns/time", pid);
	(void)stat(path, &s); /* leaves 0, which is no namespace */
	return s.st_ino;
}

/* The child that has clocks of its own; the launcher itself if none has: they are then the same. */
static pid_t find_container(pid_t launcher)
{
	char path[64], line[1024] = "", *at = line;
	FILE *children;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", launcher, launcher);
	children = fopen(path, "re");
	if (children != NULL) {
		(void)!fgets(line, sizeof line, children); /* leaves "" where there is none */
		(void)fclose(children);
	}
	for (;;) {
		char *end;
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return launcher;
		if (time_namespace_of(child) != time_namespace_of(launcher))
			return child;
		at = end;
	}
}

/* A container of timens-oci, in its default root: ROOT/ID/state.json has "pid": N. */
static bool find_oci(const char *id, pid_t *ret_pid)
{
	const char *run = getenv("XDG_RUNTIME_DIR"), *at;
	static char text[256 * 1024];
	char path[512];
	struct err unused;

	(void)snprintf(path, sizeof path, "%s/timens-oci/%s/state.json",
		       geteuid() != 0 && run != NULL ? run : "/run", id);
	if (strchr(id, '/') != NULL || file_read(path, text, sizeof text, &unused) < 0)
		return false;
	for (at = text; (at = strstr(at, "\"pid\":")) != NULL;) {
		at += strlen("\"pid\":"); /* an annotation of this name would be a string */
		*ret_pid = (pid_t)strtol(at, NULL, 10);
		if (*ret_pid > 0)
			return true;
	}
	return false;
}

int clocks_find(const char *name, pid_t *ret_pid, struct err *e)
{
	char link[64];
	pid_t launcher;
	int r;

	if (find_oci(name, ret_pid))
		return 0;
	r = find_inode(name, link, sizeof link, e);
	if (r < 0)
		return r;
	launcher = find_holder(link);
	if (launcher == 0) {
		(void)err_set(e, EACCES, "cannot see the launcher of '%s'", name);
		return err_hint(e, "only root and who started the container may look inside");
	}
	*ret_pid = find_container(launcher);
	return 0;
}
