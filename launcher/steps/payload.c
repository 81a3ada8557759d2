/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "model/bundle.h"
#include "model/container_spec.h"

int payload_limit(pid_t pid, const struct container_spec *spec, struct err *e)
{
	char path[40], score[16];

	for (size_t i = 0; i < spec->rlimit_count; i++) {
		const struct rlimit_setting *l = &spec->rlimits[i];

		if (prlimit(pid, l->resource, &l->value, NULL) < 0)
			return err_set(e, errno, "cannot set resource limit %d to %llu and %llu",
				       l->resource, (unsigned long long)l->value.rlim_cur,
				       (unsigned long long)l->value.rlim_max);
	}
	if (spec->oom_score_adj == KEEP_OOM_SCORE)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
	snprintf(score, sizeof score, "%d", spec->oom_score_adj);
	return file_write(path, score, strlen(score), e);
}

int payload_place(const cpu_set_t *processors, struct err *e)
{
	if (processors != NULL && sched_setaffinity(0, sizeof *processors, processors) < 0)
		return err_set(e, errno, "cannot choose the processors");
	return 0;
}

static int refuse_policy(const struct scheduling *s, struct err *e)
{
	(void)err_set(e, errno, "cannot set the scheduler's policy %u", s->policy);
	if (e->code == EPERM)
		return err_hint(
			e, "real time needs CAP_SYS_NICE, and in a cgroup of v1 a share of it: "
			   "resources.cpu.realtimeRuntime, in its parents as well");
	return -e->code;
}

int payload_tune(const struct bundle *bundle, struct err *e)
{
	enum { WHO_PROCESS = 1 }; /* IOPRIO_WHO_PROCESS */

	if (bundle->io_priority >= 0 &&
	    syscall(SYS_ioprio_set, WHO_PROCESS, 0, bundle->io_priority) < 0)
		return err_set(e, errno, "cannot set the I/O priority");
	if (bundle->scheduling.size > 0 &&
	    syscall(SYS_sched_setattr, 0, &bundle->scheduling, 0) < 0)
		return refuse_policy(&bundle->scheduling, e);
	if (bundle->has_personality && personality(bundle->personality) < 0)
		return err_set(e, errno, "cannot set the personality");
	(void)umask(bundle->has_umask ? bundle->umask : 0022); /* cannot fail */
	return 0;
}

int payload_set_ids(const struct container_spec *spec, struct err *e)
{
	_Static_assert(sizeof(gid_t) == sizeof *spec->group_list, "setgroups(2) takes our list");

	/* Without it a change from root to another user empties the permitted set. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot keep capabilities");
	/* Where user_namespaces(7) denies setgroups there is none to be taken away either. */
	if (setgroups(spec->group_count, spec->group_list) < 0 &&
	    !(errno == EPERM && spec->group_count == 0))
		return err_set(e, errno, "cannot set the supplementary groups");
	if (setresgid(spec->gid, spec->gid, spec->gid) < 0)
		return err_set(e, errno, "cannot become group %u", spec->gid);
	if (setresuid(spec->uid, spec->uid, spec->uid) < 0)
		return err_set(e, errno, "cannot become user %u", spec->uid);
	return 0;
}

int payload_set_capabilities(const struct capability_sets *s, struct err *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2], now[2];
	uint64_t ambient = s->ambient & s->permitted & s->inheritable;

	if (syscall(SYS_capget, &header, now) < 0)
		return err_set(e, errno, "cannot read the capabilities");
	for (unsigned int half = 0; half < 2; half++) {
		uint32_t have = now[half].permitted;
		uint32_t permitted = (uint32_t)(s->permitted >> (32 * half)) & have;

		sets[half] = (struct __user_cap_data_struct){
			.permitted = permitted,
			.effective = (uint32_t)(s->effective >> (32 * half)) & permitted,
			.inheritable = (uint32_t)(s->inheritable >> (32 * half)) & have,
		};
	}
	if (syscall(SYS_capset, &header, sets) < 0)
		return err_set(e, errno, "cannot limit the capabilities");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot clear the ambient capabilities");
	for (unsigned int cap = 0; cap < 64; cap++)
		if (ambient >> cap & 1 && sets[cap / 32].inheritable >> cap % 32 & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return err_set(e, errno, "cannot keep capability %u", cap);
	return 0;
}

static const char *value_of(char *const *env, const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	for (; *env != NULL; env++)
		if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
			found = *env + length + 1;
	return found;
}

/* The home of the user in /etc/passwd of the image, which may be anything. */
static void find_home(uint32_t uid, char *home, size_t size)
{
	autoclose int fd = open("/etc/passwd", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[64 * 1024], *rest = text, *line;
	struct stat s;
	struct err ignored; /* no such file: the home is "/" */

	snprintf(home, size, "HOME=/");
	if (fd < 0 || fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) ||
	    file_read_fd(fd, "/etc/passwd", text, sizeof text, &ignored) < 0)
		return;
	while ((line = text_next_field(&rest, '\n')) != NULL) {
		char *fields = line, *field[6] = { NULL };
		uint64_t id;

		for (int i = 0; i < 6; i++)
			field[i] = text_next_field(&fields, ':');
		if (field[5] == NULL || !text_to_number(field[2], UINT32_MAX, &id) || id != uid)
			continue;
		if (*field[5] != '\0')
			snprintf(home, size, "HOME=%s", field[5]);
		return;
	}
}

static bool can_execute(const char *path, int *why)
{
	struct stat s;

	if (stat(path, &s) < 0) {
		*why = errno == EACCES ? EACCES : *why;
		return false;
	}
	if (S_ISREG(s.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		return true;
	/* A profile older than faccessat2(2), loaded early, answers EPERM. */
	if (S_ISREG(s.st_mode) && errno != EACCES && (s.st_mode & 0111) != 0)
		return true;
	*why = EACCES;
	return false;
}

static int find_in_path(const char *name, const char *path, const char **ret, struct err *e)
{
	static char full[4096];
	int why = ENOENT;

	*ret = name;
	if (strchr(name, '/') != NULL) {
		if (can_execute(name, &why))
			return 0;
		return why == ENOENT ? err_set(e, ENOENT,
					       "exec: \"%s\": stat %s: no such file or "
					       "directory",
					       name, name)
				     : err_set(e, EACCES, "exec: \"%s\": permission denied", name);
	}
	for (const char *at = path; at != NULL && *name != '\0';) {
		size_t length = strcspn(at, ":");

		*ret = full;
		if (snprintf(full, sizeof full, "%.*s%s%s", (int)length, at,
			     length > 0 ? "/" : "./", name) < (int)sizeof full &&
		    can_execute(full, &why))
			return 0;
		at = at[length] == ':' ? at + length + 1 : NULL;
	}
	if (why == EACCES)
		return err_set(e, EACCES, "exec: \"%s\": permission denied", name);
	return err_set(e, ENOENT, "exec: \"%s\": executable file not found in $PATH", name);
}

int payload_find(const struct container_spec *spec, const char **ret_path, char ***ret_env,
		 struct err *e)
{
	static char home[4096];
	size_t count = 0;
	char **env;

	*ret_env = spec->env;
	*ret_path = "";
	if (spec->argv[0] == NULL)
		return 0; /* no process: the start will fail, as the specification wants it */
	if (value_of(spec->env, "HOME") == NULL) {
		while (spec->env[count] != NULL)
			count++;
		env = calloc(count + 2, sizeof *env);
		if (env == NULL)
			return err_set(e, ENOMEM, "cannot keep the environment");
		memcpy(env, spec->env, count * sizeof *env);
		find_home(spec->uid, home, sizeof home);
		env[count] = home;
		*ret_env = env;
	}
	return find_in_path(spec->argv[0], value_of(spec->env, "PATH"), ret_path, e);
}
