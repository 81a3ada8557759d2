/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/accounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"

struct account {
	char name[64];
	uint32_t id, group;
};

/* A regular file and nothing else: opening a fifo of an image would wait for ever. */
static FILE *open_regular(int root, const char *path)
{
	struct stat file;
	autoclose int fd = root < 0 ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
				    : file_open_beneath(root, path, O_RDONLY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
		return NULL;
	return fdopen(take_fd(&fd), "r");
}

/* Reads NAME:PASSWORD:ID[:GROUP...]; lines of another form are skipped, as libc does. */
static bool parse(char *line, struct account *ret)
{
	char *rest = line, *name, *id, *group;
	uint64_t number, group_number = 0;

	line[strcspn(line, "\n")] = '\0';
	name = text_next_field(&rest, ':');
	(void)text_next_field(&rest, ':'); /* the password, which is elsewhere */
	id = text_next_field(&rest, ':');
	group = text_next_field(&rest, ':');
	if (id == NULL || strlen(name) >= sizeof ret->name ||
	    !text_to_number(id, UINT32_MAX - 1, &number))
		return false;
	if (group != NULL)
		(void)text_to_number(group, UINT32_MAX - 1, &group_number); /* not in /etc/group */
	strcpy(ret->name, name);
	ret->id = (uint32_t)number;
	ret->group = (uint32_t)group_number;
	return true;
}

/* The first entry with the name or, with name NULL, with the id. */
static bool find(int root, const char *path, const char *name, uint64_t id, struct account *ret)
{
	FILE *file = open_regular(root, path);
	autofree char *line = NULL;
	size_t capacity = 0;
	bool found = false;

	if (file == NULL)
		return false;
	while (!found && getline(&line, &capacity, file) > 0)
		found = parse(line, ret) &&
			(name != NULL ? strcmp(ret->name, name) == 0 : ret->id == id);
	(void)fclose(file); /* was only read */
	return found;
}

int accounts_find_user(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		       struct err *e)
{
	struct account account = { 0 };
	uint64_t number;
	bool numeric = text_to_number(user, UINT32_MAX - 1, &number);

	if (!find(root, "/etc/passwd", numeric ? NULL : user, numeric ? number : 0, &account)) {
		if (!numeric)
			return err_set(e, EINVAL, "no user '%s' in /etc/passwd%s", user,
				       root < 0 ? "" : " of the root filesystem");
		account = (struct account){ .id = (uint32_t)number };
	}
	*ret_uid = account.id;
	*ret_gid = account.group;
	return 0;
}

int accounts_find_group(int root, const char *group, uint32_t *ret_gid, struct err *e)
{
	struct account account;
	uint64_t number;

	if (text_to_number(group, UINT32_MAX - 1, &number)) {
		*ret_gid = (uint32_t)number;
		return 0;
	}
	if (!find(root, "/etc/group", group, 0, &account))
		return err_set(e, EINVAL, "no group '%s' in /etc/group%s", group,
			       root < 0 ? "" : " of the root filesystem");
	*ret_gid = account.id;
	return 0;
}

bool accounts_name_of(uint32_t uid, char *ret_name, size_t size)
{
	struct account account;

	if (!find(-1, "/etc/passwd", NULL, uid, &account))
		return false;
	snprintf(ret_name, size, "%s", account.name);
	return true;
}
