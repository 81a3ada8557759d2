/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "front/request.h"

enum { ENV_FILE_MAX = 1024 * 1024 };

/* Adds NAME=VALUE, or puts it in place of the entry that has the name. */
static int set(char ***list, size_t *count, char *entry, struct err *e)
{
	size_t name = strcspn(entry, "=") + 1;
	char **longer;

	for (size_t i = 0; i < *count; i++)
		if (strncmp((*list)[i], entry, name) == 0) {
			(*list)[i] = entry;
			return 0;
		}
	longer = reallocarray(*list, *count + 2, sizeof **list);
	if (longer == NULL)
		return err_set(e, ENOMEM, "cannot keep the environment");
	*list = longer;
	longer[(*count)++] = entry;
	longer[*count] = NULL;
	return 0;
}

/* NAME alone is the caller's value, and nothing if the caller has none. */
static int set_or_pass(char ***list, size_t *count, char *entry, struct err *e)
{
	size_t length = strlen(entry);

	if (strchr(entry, '=') != NULL)
		return set(list, count, entry, e);
	for (char **own = environ; *own != NULL; own++)
		if (strncmp(*own, entry, length) == 0 && (*own)[length] == '=')
			return set(list, count, *own, e);
	return 0;
}

/* May be a pipe, as of <(...): how much there is shows when it was read. */
static int read_file(const char *path, char *text, struct err *e)
{
	FILE *file = fopen(path, "re");
	size_t length;
	int failed;

	if (file == NULL)
		return err_set(e, errno, "cannot open --env-file %s", path);
	length = fread(text, 1, ENV_FILE_MAX + 1, file);
	failed = ferror(file) ? errno : 0;
	(void)fclose(file); /* was only read */
	if (failed != 0)
		return err_set(e, failed, "cannot read --env-file %s", path);
	if (length > ENV_FILE_MAX)
		return err_set(e, EINVAL, "--env-file %s has more than 1 MiB", path);
	if (memchr(text, '\0', length) != NULL)
		return err_set(e, EINVAL, "--env-file %s is not text", path);
	text[length] = '\0';
	return 0;
}

/* Lines NAME=VALUE or NAME; empty ones and those that start with '#' are skipped. */
static int set_from_file(char ***list, size_t *count, const char *path, struct err *e)
{
	autofree char *text = malloc(ENV_FILE_MAX + 1);
	char *rest = text, *line;
	int r = text != NULL ? read_file(path, text, e)
			     : err_set(e, ENOMEM, "cannot keep the environment");

	while (r == 0 && (line = text_next_field(&rest, '\n')) != NULL) {
		char *entry;

		if (*line == '\0' || *line == '#')
			continue;
		if (*line == '=')
			return err_set(e, EINVAL, "--env-file %s: '%s' has no name", path, line);
		entry = strdup(line); /* lives as long as the process, like argv */
		r = entry != NULL ? set_or_pass(list, count, entry, e)
				  : err_set(e, ENOMEM, "cannot keep the environment");
	}
	return r;
}

int environment_complete(struct request *q, struct err *e)
{
	static char *nothing[] = { NULL };
	char **list = NULL;
	size_t count = 0;
	int r = 0;

	q->spec.env = q->clear_env ? nothing : environ;
	if (q->env_count == 0 && q->image_env == NULL)
		return 0;
	for (char **own = q->spec.env; r == 0 && *own != NULL; own++)
		r = set(&list, &count, *own, e);
	for (char *const *i = q->image_env; r == 0 && i != NULL && *i != NULL; i++)
		r = set(&list, &count, *i, e);
	for (size_t i = 0; r == 0 && i < q->env_count; i++)
		r = q->env[i][0] == '=' ? set_from_file(&list, &count, q->env[i] + 1, e)
					: set_or_pass(&list, &count, q->env[i], e);
	if (list != NULL)
		q->spec.env = list;
	return r;
}
