/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/contradictions.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "front/request.h"
#include "model/capability.h"

static bool is(const char *value, const char *word)
{
	return value != NULL && strcmp(value, word) == 0;
}

static int exclude(const char *one, const char *other, const char *hint, struct err *e)
{
	(void)err_set(e, EINVAL, "%s and %s exclude each other", one, other);
	return err_hint(e, "%s", hint);
}

static int check_namespaces(const struct request *q, struct err *e)
{
	const struct container_spec *s = &q->spec;
	bool host = is(q->net, "host");

	if (host && s->join[NS_NET] != NULL)
		return exclude("--net host", "--join net", "leave one of them out", e);
	if (host && (q->only & CLONE_NEWNET) != 0)
		return exclude("--net host", "--only net", "leave one of them out", e);
	if (q->net != NULL && !host && !creates(s, CLONE_NEWNET))
		return err_set(e, EINVAL, "--net %s needs a new net namespace", q->net);
	if (q->only != 0 && (q->share & ~(host ? (uint32_t)CLONE_NEWNET : 0)) != 0)
		return exclude("--only", "--share", "--only shares all that it does not name", e);
	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		if (s->join[k] != NULL && (q->share & namespaces[k].flag) != 0) {
			(void)err_set(e, EINVAL, "the %s namespace is both shared and joined",
				      namespaces[k].name);
			return err_hint(e, "--share keeps the caller's, --join takes another's");
		}
	return 0;
}

static int check_capabilities(const struct request *q, struct err *e)
{
	uint64_t both = q->cap_add & q->cap_drop;
	bool all_added = q->cap_add == CAPABILITY_ALL, all_dropped = q->cap_drop == CAPABILITY_ALL;
	char name[CAPABILITY_TEXT];

	if (both == 0 || all_added != all_dropped)
		return 0; /* all but some, or none but some */
	(void)err_set(e, EINVAL, "%s is both added and dropped",
		      capability_name((unsigned int)__builtin_ctzll(both), name));
	return err_hint(
		e, "either of the two may be \"all\", and then the other one is the exception");
}

/* True if path is folder, or is in it.  Both are absolute and resolved. */
static bool is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* Changes kept in the image would be a part of what they cover, and so would an image in them. */
static int check_overlay(const struct request *q, struct err *e)
{
	const struct container_spec *s = &q->spec;
	char path[PATH_MAX], parts[2][PATH_MAX + 8];

	if (s->overlay_dir == NULL)
		return 0;
	if (q->overlay)
		return exclude("--overlay", "--overlay-dir",
			       "the one forgets all changes, the other one keeps them", e);
	if (s->root == NULL || realpath(s->overlay_dir, path) == NULL)
		return 0; /* the step says what is wrong with it */
	snprintf(parts[0], sizeof parts[0], "%s/upper", path);
	snprintf(parts[1], sizeof parts[1], "%s/work", path);
	/* "/" has no outside. */
	if (strcmp(s->root, "/") != 0 && is_within(path, s->root))
		(void)err_set(e, EINVAL, "--overlay-dir %.100s is in the root filesystem", path);
	else if (is_within(s->root, parts[0]) || is_within(s->root, parts[1]))
		(void)err_set(e, EINVAL, "the root filesystem is in upper or work of %.100s", path);
	else
		return 0;
	return err_hint(e, "give a folder beside it");
}

static int check_maps(const struct request *q, struct err *e)
{
	if (q->map_groups == NULL || is(q->map_groups, q->map_users != NULL ? q->map_users : "") ||
	    (!is(q->map_users, "self") && !is(q->map_users, "auto")))
		return 0;
	(void)err_set(e, EINVAL, "--map-users %s says the groups as well", q->map_users);
	return err_hint(e, "leave --map-groups out, or give ranges to both");
}

int contradictions_refuse(const struct request *q, struct err *e)
{
	int r = check_namespaces(q, e);

	if (r == 0)
		r = check_capabilities(q, e);
	if (r == 0)
		r = check_overlay(q, e);
	return r < 0 ? r : check_maps(q, e);
}
