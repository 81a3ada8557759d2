/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/options.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "front/clock_options.h"
#include "front/request.h"

/* The mount namespace we are in when a path is used has another working directory. */
static int absolute(const char *path, const char **ret_path, struct err *e)
{
	char cwd[PATH_MAX], *joined;

	*ret_path = path;
	if (path[0] == '/')
		return 0;
	if (getcwd(cwd, sizeof cwd) == NULL)
		return err_set(e, errno, "cannot tell the working directory");
	if (asprintf(&joined, "%s/%s", cwd, path) < 0)
		return err_set(e, ENOMEM, "cannot keep the path %s", path);
	*ret_path = joined; /* lives as long as the process, like argv */
	return 0;
}

static int add_bind(struct request *q, char *value, unsigned long flags, struct err *e)
{
	struct mount *m = &q->spec.mounts[q->spec.mount_count];
	char *rest = value;

	*m = (struct mount){ .flags = flags };
	value = text_next_field(&rest, ':');
	m->target = rest != NULL ? rest : value;
	if (*value == '\0' || *m->target == '\0')
		return err_set(e, EINVAL, "an empty path, but SRC:DST is needed");
	q->spec.mount_count++;
	return absolute(value, &m->source, e);
}

static int note_bind(struct request *q, char *value, struct err *e)
{
	return add_bind(q, value, 0, e);
}

static int note_ro_bind(struct request *q, char *value, struct err *e)
{
	return add_bind(q, value, MS_RDONLY, e);
}

static int note_share(struct request *q, char *value, struct err *e)
{
	uint32_t flags;
	int r = namespaces_parse(value, &flags, e);

	q->share |= r == 0 ? flags : 0;
	return r;
}

static int note_only(struct request *q, char *value, struct err *e)
{
	return namespaces_parse(value, &q->only, e);
}

static int note_hostname(struct request *q, char *value, struct err *e)
{
	(void)e;
	q->spec.hostname = value;
	return 0;
}

static int note_workdir(struct request *q, char *value, struct err *e)
{
	(void)e;
	q->spec.workdir = value;
	return 0;
}

static int note_seccomp(struct request *q, char *value, struct err *e)
{
	(void)e;
	q->unconfined = strcmp(value, "unconfined") == 0;
	q->profile = q->unconfined ? NULL : value;
	return 0;
}

static int note_memory(struct request *q, char *value, struct err *e)
{
	return limits_parse_memory(value, &q->spec.limits.memory_bytes, e);
}

static int note_cpus(struct request *q, char *value, struct err *e)
{
	return limits_parse_cpus(value, &q->spec.limits.cpu_quota_us, e);
}

static int note_pids(struct request *q, char *value, struct err *e)
{
	return limits_parse_pids(value, &q->spec.limits.pids, e);
}

static int note_no_init(struct request *q, char *value, struct err *e)
{
	(void)value;
	(void)e;
	q->no_init = true;
	return 0;
}

static int note_explain(struct request *q, char *value, struct err *e)
{
	(void)value;
	(void)e;
	q->explain = true;
	return 0;
}

static int note_verbose(struct request *q, char *value, struct err *e)
{
	(void)q;
	(void)value;
	(void)e;
	log_verbose = true;
	return 0;
}

static int note_help(struct request *q, char *value, struct err *e)
{
	(void)value;
	(void)e;
	q->help = true;
	return 0;
}

static int note_version(struct request *q, char *value, struct err *e)
{
	(void)value;
	(void)e;
	q->version = true;
	return 0;
}

const struct option_row options[] = {
	{ "offset", "D", "clocks", note_offset },
	{ "boottime", "D", "clocks", note_boottime },
	{ "monotonic", "D", "clocks", note_monotonic },
	{ "uptime", "0|D|random", "clocks", note_uptime },
	{ "near-wrap", "NAME[-D]|list", "clocks", note_near_wrap },
	{ "timeline", "FILE", "clocks", note_timeline },
	{ "timeline-mode", "pause|wall", "clocks", note_timeline_mode },
	{ "bind", "SRC:DST", "root", note_bind },
	{ "ro-bind", "SRC:DST", "root", note_ro_bind },
	{ "hostname", "NAME", "identity", note_hostname },
	{ "workdir", "PATH", "identity", note_workdir },
	{ "seccomp", "FILE|unconfined", "privileges", note_seccomp },
	{ "memory", "BYTES", "limits", note_memory },
	{ "cpus", "N", "limits", note_cpus },
	{ "pids", "N", "limits", note_pids },
	{ "share", "NS,...", "namespaces", note_share },
	{ "only", "NS,...", "namespaces", note_only },
	{ "no-init", NULL, "life", note_no_init },
	{ "explain", NULL, "about", note_explain },
	{ "verbose", NULL, "about", note_verbose },
	{ "help", NULL, "about", note_help },
	{ "version", NULL, "about", note_version },
};
const size_t option_count = sizeof options / sizeof *options;
