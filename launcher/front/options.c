/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "front/clock_options.h"
#include "front/request.h"
#include "front/root_options.h"
#include "model/capability.h"

static int note_namespaces(uint32_t *set, const char *value, struct err *e)
{
	uint32_t flags = 0;
	int r = namespaces_parse(value, &flags, e);

	*set |= flags;
	return r;
}

static int note_share(struct request *q, char *value, struct err *e)
{
	return note_namespaces(&q->share, value, e);
}

static int note_only(struct request *q, char *value, struct err *e)
{
	return note_namespaces(&q->only, value, e);
}

static int note_seccomp(struct request *q, char *value, struct err *e)
{
	(void)e;
	q->unconfined = strcmp(value, "unconfined") == 0;
	q->default_filter = strcmp(value, "default") == 0;
	q->profile = q->unconfined || q->default_filter ? NULL : value;
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

static int note_verbose(struct request *q, char *value, struct err *e)
{
	(void)q;
	(void)value;
	(void)e;
	log_verbose = true;
	return 0;
}

static int note_capabilities(char *list, uint64_t *bits, struct err *e)
{
	char *name;

	while ((name = text_next_field(&list, ',')) != NULL) {
		uint64_t bit;
		int r = capability_parse(name, &bit, e);

		if (r < 0)
			return r;
		*bits |= bit;
	}
	return 0;
}

static int note_cap_add(struct request *q, char *value, struct err *e)
{
	return note_capabilities(value, &q->cap_add, e);
}

static int note_cap_drop(struct request *q, char *value, struct err *e)
{
	return note_capabilities(value, &q->cap_drop, e);
}

static int note_env(struct request *q, char *value, struct err *e)
{
	if (*value == '\0' || *value == '=')
		return err_set(e, EINVAL, "'%s' has no name", value);
	q->env[q->env_count++] = value;
	return 0;
}

static int note_env_file(struct request *q, char *value, struct err *e)
{
	if (asprintf(&q->env[q->env_count], "=%s", value) < 0)
		return err_set(e, ENOMEM, "cannot keep the path %s", value);
	q->env_count++;
	return 0;
}

static int note_rlimit(struct request *q, char *value, struct err *e)
{
	struct container_spec *s = &q->spec;
	struct rlimit_setting limit;
	size_t i = 0;
	int r = rlimit_parse(value, &limit, e);

	if (r < 0)
		return r;
	while (i < s->rlimit_count && s->rlimits[i].resource != limit.resource)
		i++;
	s->rlimits[i] = limit;
	s->rlimit_count += i == s->rlimit_count;
	return 0;
}

static int note_oom_score_adj(struct request *q, char *value, struct err *e)
{
	uint64_t score;

	if (!text_to_number(value + (*value == '-'), 1000, &score))
		return err_set(e, EINVAL, "'%s' is not a number from -1000 to 1000", value);
	q->spec.oom_score_adj = *value == '-' ? -(int)score : (int)score;
	return 0;
}

static int note_join(struct request *q, char *value, struct err *e)
{
	size_t length = strcspn(value, "=");
	enum namespace_kind k = namespace_find(value, (unsigned int)length);

	if (k == NS_COUNT || value[length] == '\0') {
		(void)err_set(e, EINVAL, "'%s' is not NS=PATH", value);
		return err_hint(e, "for example time=/proc/1234/ns/time");
	}
	if (value[length + 1] == '\0')
		return err_set(e, EINVAL, "the path of '%s' must not be empty", value);
	q->spec.join[k] = value + length + 1;
	return 0;
}

static int note_fd(int *fd, const char *value, struct err *e)
{
	uint64_t number;

	if (!text_to_number(value, INT_MAX, &number))
		return err_set(e, EINVAL, "'%s' is not a file descriptor", value);
	/* Later the number could be one of ours. */
	if (fcntl((int)number, F_GETFD) < 0)
		return err_set(e, errno, "descriptor %s is not open", value);
	*fd = (int)number;
	return 0;
}

static int note_info_fd(struct request *q, char *value, struct err *e)
{
	return note_fd(&q->spec.info_fd, value, e);
}

static int note_sync_fd(struct request *q, char *value, struct err *e)
{
	return note_fd(&q->spec.sync_fd, value, e);
}

static int note_kill_timeout(struct request *q, char *value, struct err *e)
{
	struct clock_offset d;
	int r = clock_offset_parse(value, &d, e);

	if (r < 0)
		return r;
	if (d.s < 0 || d.s > INT_MAX / 1000 - 1)
		return err_set(e, ERANGE, "'%s' is not between 0 and 24 days", value);
	q->spec.kill_timeout_ms = (int)d.s * 1000 + (int)(d.ns / 1000000);
	return 0;
}

#define FIELD(member) NULL, offsetof(struct request, member)

const struct option_row options[] = {
	{ "offset", "D", "clocks", note_offset, 0 },
	{ "boottime", "D", "clocks", note_boottime, 0 },
	{ "monotonic", "D", "clocks", note_monotonic, 0 },
	{ "uptime", "0|D|random", "clocks", note_uptime, 0 },
	{ "near-wrap", "NAME[-D]|list", "clocks", note_near_wrap, 0 },
	{ "timeline", "FILE", "clocks", note_timeline, 0 },
	{ "timeline-mode", "pause|wall", "clocks", note_timeline_mode, 0 },
	{ "read-only", NULL, "root", FIELD(spec.read_only) },
	{ "overlay", NULL, "root", FIELD(overlay) },
	{ "overlay-dir", "DIR", "root", note_overlay_dir, 0 },
	{ "bind", "SRC:DST", "root", note_bind, 0 },
	{ "ro-bind", "SRC:DST", "root", note_ro_bind, 0 },
	{ "tmpfs", "DST[:OPTIONS]", "root", note_tmpfs, 0 },
	{ "proc", "oci|plain|none", "root", note_proc, 0 },
	{ "sys", "oci|plain|none", "root", note_sys, 0 },
	{ "dev", "oci|none", "root", note_dev, 0 },
	{ "user", "USER[:GROUP]", "identity", FIELD(user) },
	{ "group", "GROUP", "identity", FIELD(group) },
	{ "groups", "GROUP,...", "identity", FIELD(groups) },
	{ "map-users", "IN:OUT:COUNT,...|auto|self", "identity", FIELD(map_users) },
	{ "map-groups", "IN:OUT:COUNT,...", "identity", FIELD(map_groups) },
	{ "hostname", "NAME", "identity", FIELD(spec.hostname) },
	{ "workdir", "PATH", "identity", FIELD(spec.workdir) },
	{ "env", "NAME[=VALUE]", "identity", note_env, 0 },
	{ "env-file", "FILE", "identity", note_env_file, 0 },
	{ "clear-env", NULL, "identity", FIELD(clear_env) },
	{ "cap-add", "CAP,...", "privileges", note_cap_add, 0 },
	{ "cap-drop", "CAP,...", "privileges", note_cap_drop, 0 },
	{ "seccomp", "FILE|default|unconfined", "privileges", note_seccomp, 0 },
	{ "rlimit", "NAME=SOFT[:HARD]", "privileges", note_rlimit, 0 },
	{ "oom-score-adj", "N", "privileges", note_oom_score_adj, 0 },
	{ "new-session", NULL, "privileges", FIELD(spec.new_session) },
	{ "share", "NS,...", "namespaces", note_share, 0 },
	{ "only", "NS,...", "namespaces", note_only, 0 },
	{ "join", "NS=PATH", "namespaces", note_join, 0 },
	{ "net", "none|host|pasta", "namespaces", FIELD(net) },
	{ "memory", "BYTES", "limits", note_memory, 0 },
	{ "cpus", "N", "limits", note_cpus, 0 },
	{ "pids", "N", "limits", note_pids, 0 },
	{ "tty", NULL, "life", FIELD(spec.terminal) },
	{ "no-init", NULL, "life", FIELD(no_init) },
	{ "name", "NAME", "life", FIELD(spec.name) },
	{ "pid-file", "FILE", "life", FIELD(spec.pid_file) },
	{ "info-fd", "FD", "life", note_info_fd, 0 },
	{ "sync-fd", "FD", "life", note_sync_fd, 0 },
	{ "kill-timeout", "D", "life", note_kill_timeout, 0 },
	{ "check", NULL, "about", FIELD(check) },
	{ "json", NULL, "about", FIELD(json) },
	{ "explain", NULL, "about", FIELD(explain) },
	{ "verbose", NULL, "about", note_verbose, 0 },
	{ "help", NULL, "about", FIELD(help) },
	{ "version", NULL, "about", FIELD(version) },
};
const size_t option_count = sizeof options / sizeof *options;
