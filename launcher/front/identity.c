/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/identity.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "front/request.h"

#define BIT(cap) (UINT64_C(1) << (cap))

/* What container engines leave to root inside; CAP_SYS_TIME is not among them. */
static const uint64_t default_capabilities =
	BIT(CAP_AUDIT_WRITE) | BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) |
	BIT(CAP_FSETID) | BIT(CAP_KILL) | BIT(CAP_MKNOD) | BIT(CAP_NET_BIND_SERVICE) |
	BIT(CAP_NET_RAW) | BIT(CAP_SETFCAP) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) | BIT(CAP_SETUID) |
	BIT(CAP_SYS_CHROOT);

enum { PASSWD_NAME, PASSWD_PASSWORD, PASSWD_ID };

/* The caller's name in /etc/passwd, as /etc/subuid may use it.  getpwuid(3) would need the
 * shared libraries of nsswitch. */
static bool name_of(uid_t uid, char *ret_name, size_t size)
{
	FILE *file = fopen("/etc/passwd", "re");
	autofree char *line = NULL;
	size_t capacity = 0;
	bool found = false;

	while (file != NULL && !found && getline(&line, &capacity, file) > 0) {
		char *rest = line, *field[3];
		uint64_t id;

		for (int i = PASSWD_NAME; i <= PASSWD_ID; i++)
			field[i] = text_next_field(&rest, ':');
		found = field[PASSWD_ID] != NULL &&
			text_to_number(field[PASSWD_ID], UINT32_MAX, &id) && id == uid &&
			strlen(field[PASSWD_NAME]) < size;
		if (found)
			strcpy(ret_name, field[PASSWD_NAME]);
	}
	if (file != NULL)
		(void)fclose(file); /* was only read */
	return found;
}

/* Adds the caller's ranges of a subuid(5) file after the ids that map already has. */
static int add_ranges(const char *path, const char *name, struct id_map *map, struct err *e)
{
	FILE *file = fopen(path, "re");
	autofree char *line = NULL;
	size_t capacity = 0;
	uint32_t next = 1;
	char number[12];
	int r = 0;

	snprintf(number, sizeof number, "%u", getuid());
	while (file != NULL && r == 0 && getline(&line, &capacity, file) > 0) {
		char *rest = line, *owner;
		uint64_t first, count;

		line[strcspn(line, "\n")] = '\0';
		owner = text_next_field(&rest, ':');
		if (strcmp(owner, name) != 0 && strcmp(owner, number) != 0)
			continue;
		if (rest == NULL ||
		    !text_to_number(text_next_field(&rest, ':'), UINT32_MAX, &first) ||
		    rest == NULL || !text_to_number(rest, UINT32_MAX, &count) ||
		    map->count == ID_RANGES_MAX)
			continue; /* newuidmap would not read it either */
		r = id_map_add(map, (struct id_range){ next, (uint32_t)first, (uint32_t)count }, e);
		next += (uint32_t)count;
	}
	if (file != NULL)
		(void)fclose(file); /* was only read */
	return r;
}

static int map_ourselves(struct container_spec *s, struct err *e)
{
	char name[64] = "";
	int r = 0;

	if (geteuid() == 0) {
		struct id_range all = { 0, 0, UINT32_MAX };

		s->users = s->groups = (struct id_map){ .count = 1, .ranges = { all } };
		return 0;
	}
	(void)name_of(getuid(), name, sizeof name);
	s->users = (struct id_map){ .count = 1, .ranges = { { 0, geteuid(), 1 } } };
	s->groups = (struct id_map){ .count = 1, .ranges = { { 0, getegid(), 1 } } };
	r = add_ranges("/etc/subuid", name, &s->users, e);
	if (r == 0)
		r = add_ranges("/etc/subgid", name, &s->groups, e);
	s->map_by_helper = s->users.count > 1 && s->groups.count > 1;
	if (!s->map_by_helper)
		s->users.count = s->groups.count = 1;
	s->deny_setgroups = !s->map_by_helper;
	return r;
}

int identity_complete(struct request *q, struct err *e)
{
	struct container_spec *s = &q->spec;
	int r = 0;

	if (creates(s, CLONE_NEWUSER))
		r = map_ourselves(s, e);
	/* --only adds namespaces to the caller and takes nothing away. */
	s->capabilities = q->only != 0 ? UINT64_MAX : default_capabilities;
	s->set_ids = q->only == 0;
	return r;
}
