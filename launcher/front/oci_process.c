/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_process.c - "process" of config.json: what is executed, and as whom */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "front/doc.h"
#include "front/oci_config.h"
#include "front/seccomp_profile.h"
#include "model/capability.h"

static const struct {
	const char *name;
	int resource;
} rlimit_names[] = {
	{ "RLIMIT_AS", RLIMIT_AS },
	{ "RLIMIT_CORE", RLIMIT_CORE },
	{ "RLIMIT_CPU", RLIMIT_CPU },
	{ "RLIMIT_DATA", RLIMIT_DATA },
	{ "RLIMIT_FSIZE", RLIMIT_FSIZE },
	{ "RLIMIT_LOCKS", RLIMIT_LOCKS },
	{ "RLIMIT_MEMLOCK", RLIMIT_MEMLOCK },
	{ "RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE },
	{ "RLIMIT_NICE", RLIMIT_NICE },
	{ "RLIMIT_NOFILE", RLIMIT_NOFILE },
	{ "RLIMIT_NPROC", RLIMIT_NPROC },
	{ "RLIMIT_RSS", RLIMIT_RSS },
	{ "RLIMIT_RTPRIO", RLIMIT_RTPRIO },
	{ "RLIMIT_RTTIME", RLIMIT_RTTIME },
	{ "RLIMIT_SIGPENDING", RLIMIT_SIGPENDING },
	{ "RLIMIT_STACK", RLIMIT_STACK },
};

/* Unlimited is 2^64-1, which engines also write as -1: both are seen as -1 here. */
static int read_rlimit(const struct json *in, struct container_spec *s, struct err *e)
{
	const char *type = NULL;
	int64_t soft = 0, hard = 0;

	if (doc_text(in, "type", &type, e) < 0 ||
	    doc_integer(in, "soft", INT64_MIN, INT64_MAX, &soft, e) < 0 ||
	    doc_integer(in, "hard", INT64_MIN, INT64_MAX, &hard, e) < 0)
		return -e->code;
	for (size_t i = 0; type != NULL && i < sizeof rlimit_names / sizeof *rlimit_names; i++) {
		if (strcmp(type, rlimit_names[i].name) != 0)
			continue;
		for (size_t k = 0; k < s->rlimit_count; k++)
			if (s->rlimits[k].resource == rlimit_names[i].resource)
				return err_set(e, EINVAL, "%s is listed twice", type);
		s->rlimits[s->rlimit_count++] =
			(struct rlimit_setting){ rlimit_names[i].resource,
						 { (rlim_t)soft, (rlim_t)hard } };
		return 0;
	}
	return err_set(e, EINVAL, "rlimit type '%s' is not known", type != NULL ? type : "(none)");
}

static int read_rlimits(const struct json *process, struct container_spec *s, struct err *e)
{
	const struct json *list;
	size_t count;
	int r = doc_array(process, "rlimits", &list, &count, e);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_rlimit(doc_at(list, i), s, e);
	return r;
}

static int read_user(const struct json *process, struct oci_config *c, struct err *e)
{
	struct container_spec *s = &c->spec;
	const struct json *user, *groups;
	int64_t uid = 0, gid = 0, mask = -1;
	size_t count;

	if (doc_object(process, "user", &user, e) < 0 ||
	    doc_integer(user, "uid", 0, UINT32_MAX - 1, &uid, e) < 0 ||
	    doc_integer(user, "gid", 0, UINT32_MAX - 1, &gid, e) < 0 ||
	    doc_integer(user, "umask", 0, 0777, &mask, e) < 0 ||
	    doc_array(user, "additionalGids", &groups, &count, e) < 0)
		return -e->code;
	if (count > GROUPS_MAX)
		return err_set(e, ENOTSUP, "more than %d additionalGids", GROUPS_MAX);
	for (s->group_count = 0; s->group_count < count; s->group_count++) {
		struct json *one = doc_new_object();
		int64_t id = -1;
		int r;

		doc_set(one, "additionalGids", doc_keep(doc_at(groups, s->group_count)));
		r = doc_integer(one, "additionalGids", 0, UINT32_MAX - 1, &id, e);
		if (r < 0 || id < 0)
			return r < 0 ? r : err_set(e, EINVAL, "an empty entry in additionalGids");
		s->group_list[s->group_count] = (uint32_t)id;
	}
	s->set_ids = true;
	s->uid = (uint32_t)uid;
	s->gid = (uint32_t)gid;
	c->bundle.has_umask = mask >= 0;
	c->bundle.umask = (mode_t)mask & 0777;
	return 0;
}

static int read_capability_set(const struct json *sets, const char *key, uint64_t *ret,
			       struct err *e)
{
	char **names = NULL;
	int r = doc_texts(sets, key, &names, e);

	*ret = 0;
	for (char **n = names; r == 0 && n != NULL && *n != NULL; n++) {
		uint64_t bits = 0;

		r = strncmp(*n, "CAP_", 4) != 0
			    ? err_set(e, EINVAL, "'%s' in '%s' is no capability", *n, key)
			    : capability_parse(*n, &bits, e);
		*ret |= bits;
	}
	free(names);
	return r;
}

static int read_capabilities(const struct json *process, struct oci_config *c, struct err *e)
{
	struct capability_sets *s = &c->bundle.capabilities;
	const struct json *sets;

	if (doc_object(process, "capabilities", &sets, e) < 0)
		return -e->code;
	c->bundle.has_capabilities = sets != NULL;
	if (sets == NULL)
		return 0;
	if (read_capability_set(sets, "bounding", &s->bounding, e) < 0 ||
	    read_capability_set(sets, "effective", &s->effective, e) < 0 ||
	    read_capability_set(sets, "permitted", &s->permitted, e) < 0 ||
	    read_capability_set(sets, "inheritable", &s->inheritable, e) < 0)
		return -e->code;
	return read_capability_set(sets, "ambient", &s->ambient, e);
}

static int refuse_unsupported(const struct json *process, struct err *e)
{
	static const char *const labels[] = { "apparmorProfile", "selinuxLabel" };

	for (size_t i = 0; i < 2; i++) {
		const char *text = "";

		if (doc_text(process, labels[i], &text, e) < 0)
			return -e->code;
		/* "unconfined" is what there is without a profile. */
		if (*text != '\0' && strcmp(text, "unconfined") != 0)
			return err_set(e, ENOTSUP, "'process.%s' is not supported", labels[i]);
	}
	return 0;
}

static int read_terminal(const struct json *process, struct oci_config *c, struct err *e)
{
	const struct json *size;
	int64_t rows = 0, columns = 0;

	if (doc_flag(process, "terminal", &c->spec.terminal, e) < 0 ||
	    doc_object(process, "consoleSize", &size, e) < 0 ||
	    doc_integer(size, "height", 0, UINT16_MAX, &rows, e) < 0 ||
	    doc_integer(size, "width", 0, UINT16_MAX, &columns, e) < 0)
		return -e->code;
	c->bundle.terminal_rows = (unsigned short)rows;
	c->bundle.terminal_columns = (unsigned short)columns;
	return 0;
}

int oci_process_read(const struct json *process, struct oci_config *c, struct err *e)
{
	struct container_spec *s = &c->spec;
	int64_t score = KEEP_OOM_SCORE;

	if (refuse_unsupported(process, e) < 0 || doc_texts(process, "args", &s->argv, e) < 0 ||
	    doc_texts(process, "env", &s->env, e) < 0 ||
	    doc_text(process, "cwd", &s->workdir, e) < 0 ||
	    doc_flag(process, "noNewPrivileges", &s->no_new_privs, e) < 0 ||
	    doc_integer(process, "oomScoreAdj", -1000, 1000, &score, e) < 0 ||
	    read_terminal(process, c, e) < 0 || read_user(process, c, e) < 0 ||
	    read_capabilities(process, c, e) < 0 || read_rlimits(process, s, e) < 0 ||
	    oci_scheduling_read(process, c, e) < 0)
		return -e->code;
	if (s->argv == NULL || s->argv[0] == NULL)
		return err_set(e, EINVAL, "'process.args' is missing or empty");
	if (s->workdir == NULL || s->workdir[0] != '/')
		return err_set(e, EINVAL, "'process.cwd' is missing or not absolute");
	if (s->env == NULL)
		s->env = calloc(1, sizeof *s->env);
	if (s->env == NULL)
		return err_set(e, ENOMEM, "cannot keep 'process.env'");
	s->oom_score_adj = (int)score;
	return 0;
}

static bool is_left_to_agent(const struct json *entry, const char *key)
{
	const char *action = doc_as_text(doc_get(entry, key));

	return action != NULL && strcmp(action, "SCMP_ACT_NOTIFY") == 0;
}

static int count_notified(const struct json *profile, size_t *ret, struct err *e)
{
	const struct json *list;
	size_t count;

	*ret = is_left_to_agent(profile, "defaultAction") ? 1 : 0;
	if (doc_array(profile, "syscalls", &list, &count, e) < 0)
		return -e->code;
	for (size_t i = 0; i < count; i++)
		*ret += is_left_to_agent(doc_at(list, i), "action") ? 1 : 0;
	return 0;
}

int oci_agent_read(const struct json *profile, struct oci_config *c, struct err *e)
{
	struct bundle *b = &c->bundle;
	size_t notified;

	if (doc_text(profile, "listenerPath", &b->agent_path, e) < 0 ||
	    doc_text(profile, "listenerMetadata", &b->agent_metadata, e) < 0)
		return -e->code;
	if (b->agent_path != NULL && *b->agent_path == '\0')
		b->agent_path = NULL;
	if (b->agent_metadata != NULL && *b->agent_metadata == '\0')
		b->agent_metadata = NULL;
	if (b->agent_path == NULL && b->agent_metadata != NULL)
		return err_set(e, EINVAL, "'linux.seccomp.listenerMetadata' without listenerPath");
	if (b->agent_path != NULL && b->agent_path[0] != '/')
		return err_set(e, EINVAL, "'linux.seccomp.listenerPath' is not absolute");
	if (count_notified(profile, &notified, e) < 0)
		return -e->code;
	if (notified == 0)
		b->agent_path = NULL; /* nothing to answer */
	return 0;
}

static int find_or_compile(const char *profile, const struct profile_facts *facts,
			   struct oci_config *c, struct err *e)
{
	struct filter_key key;
	int r = filter_key_make(profile, facts, &key, e);

	if (r < 0)
		return r;
	if (c->cache_root != NULL && filter_cache_find(c->cache_root, &key, &c->filter) == 0) {
		free(key.bytes);
		return 0;
	}
	c->filter_key = key;
	return seccomp_profile_compile(profile, strlen(profile), facts, &c->filter, e);
}

int oci_filter_read(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	const struct json *profile;
	struct profile_facts facts = { .capabilities = c->bundle.capabilities.bounding };
	autofree char *text = NULL;
	int r = doc_object(linux_part, "seccomp", &profile, e);

	if (r < 0 || profile == NULL)
		return r;
	if (oci_agent_read(profile, c, e) < 0)
		return -e->code;
	facts.has_agent = c->bundle.agent_path != NULL;
	text = doc_format(profile, 0);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot keep 'linux.seccomp'");
	c->spec.filter = &c->filter;
	return find_or_compile(text, &facts, c, e);
}
