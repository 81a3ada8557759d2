/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/identity.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "front/accounts.h"
#include "front/own_ids.h"
#include "front/request.h"
#include "model/capability.h"

/* What container engines leave to root inside; CAP_SYS_TIME is not among them. */
static const uint64_t default_capabilities =
	CAPABILITY_BIT(CAP_AUDIT_WRITE) | CAPABILITY_BIT(CAP_CHOWN) |
	CAPABILITY_BIT(CAP_DAC_OVERRIDE) | CAPABILITY_BIT(CAP_FOWNER) | CAPABILITY_BIT(CAP_FSETID) |
	CAPABILITY_BIT(CAP_KILL) | CAPABILITY_BIT(CAP_MKNOD) |
	CAPABILITY_BIT(CAP_NET_BIND_SERVICE) | CAPABILITY_BIT(CAP_NET_RAW) |
	CAPABILITY_BIT(CAP_SETFCAP) | CAPABILITY_BIT(CAP_SETGID) | CAPABILITY_BIT(CAP_SETPCAP) |
	CAPABILITY_BIT(CAP_SETUID) | CAPABILITY_BIT(CAP_SYS_CHROOT);

/* May we map any ids?  Root of a container without these capabilities may not, nor anybody else. */
static bool may_map_ids(void)
{
	const uint32_t needed = (1U << CAP_SETGID) | (1U << CAP_SETUID) |
				(1U << CAP_SETFCAP); /* user_namespaces(7) */
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct own[2] = { 0 };

	return geteuid() == 0 && syscall(SYS_capget, &header, own) == 0 &&
	       (own[0].effective & needed) == needed;
}

/* Adds the caller's ranges of a subuid(5) file, inside from id next on. */
static int add_ranges(const char *path, uint32_t next, struct id_map *map, struct err *e)
{
	FILE *file = fopen(path, "re");
	autofree char *line = NULL;
	size_t capacity = 0;
	char name[64] = "", number[12];
	bool asked = false;
	int r = 0;

	snprintf(number, sizeof number, "%u", getuid());
	while (file != NULL && r == 0 && getline(&line, &capacity, file) > 0) {
		char *rest = line, *owner, *start;
		uint64_t first, count;

		if (!asked) /* not for an empty file; without a name the number must be there */
			(void)accounts_name_of(getuid(), name, sizeof name);
		asked = true;
		line[strcspn(line, "\n")] = '\0';
		owner = text_next_field(&rest, ':');
		start = text_next_field(&rest, ':');
		if ((strcmp(owner, name) != 0 && strcmp(owner, number) != 0) || rest == NULL ||
		    !text_to_number(start, UINT32_MAX, &first) ||
		    !text_to_number(rest, UINT32_MAX, &count) || map->count == ID_RANGES_MAX)
			continue; /* newuidmap would not read it either */
		r = id_map_add(map, (struct id_range){ next, (uint32_t)first, (uint32_t)count }, e);
		next += (uint32_t)count;
	}
	if (file != NULL)
		(void)fclose(file); /* was only read */
	return r;
}

static void map_self(struct container_spec *s)
{
	s->users = (struct id_map){ .count = 1, .ranges = { { 0, geteuid(), 1 } } };
	s->groups = (struct id_map){ .count = 1, .ranges = { { 0, getegid(), 1 } } };
}

/* Root gets its ranges from 0 on; others are 0 themselves and have their ranges above. */
static int map_ranges(struct container_spec *s, struct err *e)
{
	uint32_t from = may_map_ids() ? 0 : 1;
	size_t without;
	int r;

	map_self(s);
	if (from == 0)
		s->users.count = s->groups.count = 0;
	without = s->users.count;
	r = add_ranges("/etc/subuid", from, &s->users, e);
	if (r == 0 && s->users.count == without)
		return 0; /* then ranges of groups are of no use */
	return r < 0 ? r : add_ranges("/etc/subgid", from, &s->groups, e);
}

static bool is_self(const struct id_map *map, uint32_t own)
{
	return map->count == 1 && map->ranges[0].count == 1 && map->ranges[0].outside == own;
}

static int map_by_options(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	const char *users = q->map_users != NULL ? q->map_users : q->map_groups;
	const char *groups = q->map_groups != NULL ? q->map_groups : users;
	unsigned int least = may_map_ids() ? 1 : 2; /* we ourselves, and a range */
	int r;

	if (strcmp(users, "self") == 0) {
		map_self(s);
		return 0;
	}
	if (strcmp(users, "auto") == 0) {
		r = map_ranges(s, e);
		if (r == 0 && (s->users.count < least || s->groups.count < least)) {
			(void)err_set(e, EINVAL,
				      "no ranges for user %u in /etc/subuid and "
				      "/etc/subgid",
				      getuid());
			return err_hint(e,
					"root adds them with usermod --add-subuids 100000-165535 "
					"--add-subgids 100000-165535 USER");
		}
		return r;
	}
	r = id_map_parse(users, &s->users, e);
	return r < 0 ? r : id_map_parse(groups, &s->groups, e);
}

static int choose_maps(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	int r = 0;

	if (q->map_users != NULL || q->map_groups != NULL) {
		r = map_by_options(q, e);
	} else if (may_map_ids()) {
		s->users = own_users();
		s->groups = own_groups();
	} else {
		r = map_ranges(s, e);
		if (s->users.count == 1 || s->groups.count == 1)
			map_self(s);
	}
	if (!may_map_ids()) {
		s->map_by_helper =
			!is_self(&s->users, geteuid()) || !is_self(&s->groups, getegid());
		s->deny_setgroups = !s->map_by_helper;
	} else if (s->groups.ranges[0].count != UINT32_MAX) { /* else a host: nobody denies */
		s->deny_setgroups = own_setgroups_denied();
	}
	return r;
}

/* A root that belongs to nobody inside gets an idmapped mount; the kernel lets only root do it. */
static void choose_idmap(struct request *q)
{
	struct container_spec *s = &q->spec;
	struct stat root;

	if (!may_map_ids() || q->root < 0 || !creates(s, CLONE_NEWUSER) ||
	    id_map_is_identity(&s->users) || fstat(q->root, &root) < 0)
		return;
	s->idmap_root = true;
	for (unsigned int i = 0; i < s->users.count; i++)
		if (root.st_uid >= s->users.ranges[i].outside &&
		    root.st_uid - s->users.ranges[i].outside < s->users.ranges[i].count)
			s->idmap_root = false;
}

static int choose_ids(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	autofree char *user = q->user != NULL ? strdup(q->user) : NULL;
	autofree char *groups = q->groups != NULL ? strdup(q->groups) : NULL;
	char *rest = user, *more = groups, *name = text_next_field(&rest, ':');
	const char *group = q->group != NULL ? q->group : rest;
	int r = 0;

	s->set_ids = q->only == 0 || user != NULL || group != NULL || groups != NULL;
	if (q->only != 0 && s->set_ids && !creates(s, CLONE_NEWUSER)) {
		s->uid = getuid();
		s->gid = getgid();
	}
	if (name != NULL)
		r = accounts_find_user(q->root, name, &s->uid, &s->gid, e);
	if (r == 0 && group != NULL)
		r = accounts_find_group(q->root, group, &s->gid, e);
	while (r == 0 && (name = text_next_field(&more, ',')) != NULL) {
		if (s->group_count == GROUPS_MAX)
			return err_set(e, EINVAL, "--groups names more than %d groups", GROUPS_MAX);
		r = accounts_find_group(q->root, name, &s->group_list[s->group_count++], e);
	}
	return r;
}

int identity_complete(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	int r = 0;

	if (creates(s, CLONE_NEWUSER))
		r = choose_maps(q, e);
	else if (q->map_users != NULL || q->map_groups != NULL)
		r = err_set(e, EINVAL, "--map-users and --map-groups need a new user namespace");
	if (r == 0)
		r = choose_ids(q, e);
	if (r < 0)
		return r;
	choose_idmap(q);
	/* --only adds namespaces to the caller and takes nothing away. */
	s->capabilities = q->only != 0 ? UINT64_MAX : default_capabilities;
	s->capabilities = q->cap_add == CAPABILITY_ALL
				  ? CAPABILITY_ALL & ~q->cap_drop
				  : (s->capabilities & ~q->cap_drop) | q->cap_add;
	/* Root regains its capabilities at exec, others only those that are ambient. */
	s->ambient = s->uid != 0 ? q->cap_add & s->capabilities : 0;
	/* The groups of a joined user namespace may be frozen. */
	s->deny_setgroups |= s->join[NS_USER] != NULL;
	if (s->deny_setgroups && s->group_count > 0) {
		(void)err_set(e, EPERM,
			      "--groups needs a map that a privileged process has written");
		return err_hint(
			e, "give this user ranges in /etc/subuid and /etc/subgid, or run as root");
	}
	return 0;
}
