/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "front/request.h"

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

/* Lines NAME=VALUE or NAME; empty ones and those that start with '#' are skipped. */
static int set_from_file(char ***list, size_t *count, const char *path, struct err *e)
{
	FILE *file = fopen(path, "re");
	autofree char *line = NULL;
	size_t capacity = 0;
	int r = 0;

	if (file == NULL)
		return err_set(e, errno, "cannot open --env-file %s", path);
	while (r == 0 && getline(&line, &capacity, file) > 0) {
		char *entry;

		line[strcspn(line, "\n")] = '\0';
		if (*line == '\0' || *line == '#')
			continue;
		if (*line == '=') {
			r = err_set(e, EINVAL, "--env-file %s: '%s' has no name", path, line);
			break;
		}
		entry = strdup(line); /* lives as long as the process, like argv */
		r = entry != NULL ? set_or_pass(list, count, entry, e)
				  : err_set(e, ENOMEM, "cannot keep the environment");
	}
	(void)fclose(file); /* was only read */
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
