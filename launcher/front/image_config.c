/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/image_config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "front/request.h"

static int wrong(const char *path, const char *key, const char *form, struct err *e)
{
	return err_set(e, EINVAL, "%s: %s is not %s", path, key, form);
}

/* The strings of an array, appended to list; null and no entry are an empty array. */
static int append(const json_t *config, const char *key, const char *path, char **list,
		  size_t *count, struct err *e)
{
	const json_t *array = json_object_get(config, key), *item;
	size_t i;

	if (array == NULL || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return wrong(path, key, "a list of texts", e);
	json_array_foreach (array, i, item) {
		if (!json_is_string(item))
			return wrong(path, key, "a list of texts", e);
		list[(*count)++] = (char *)json_string_value(item);
	}
	return 0;
}

static int text(const json_t *config, const char *key, const char *path, const char **value,
		struct err *e)
{
	const json_t *item = json_object_get(config, key);

	if (item == NULL || json_is_null(item) || *value != NULL)
		return 0; /* the command line has the last word */
	if (!json_is_string(item))
		return wrong(path, key, "a text", e);
	if (json_string_length(item) > 0)
		*value = json_string_value(item);
	return 0;
}

static int take(struct request *q, const json_t *config, const char *path, struct err *e)
{
	size_t words = json_array_size(json_object_get(config, "Entrypoint")) +
		       json_array_size(json_object_get(config, "Cmd"));
	size_t variables = json_array_size(json_object_get(config, "Env"));
	size_t count = 0;
	int r;

	q->spec.argv = calloc(words + 1, sizeof(char *));
	q->image_env = calloc(variables + 1, sizeof(char *));
	if (q->spec.argv == NULL || q->image_env == NULL)
		return err_set(e, ENOMEM, "cannot keep %s", path);
	r = append(config, "Entrypoint", path, q->spec.argv, &count, e);
	if (r == 0)
		r = append(config, "Cmd", path, q->spec.argv, &count, e);
	if (r == 0 && count == 0)
		r = err_set(e, EINVAL, "%s names no command", path);
	count = 0;
	if (r == 0)
		r = append(config, "Env", path, (char **)q->image_env, &count, e);
	if (r == 0)
		r = text(config, "WorkingDir", path, &q->spec.workdir, e);
	return r < 0 ? r : text(config, "User", path, &q->user, e);
}

/* A pipe in its place would make us wait for ever.  Returns the fd or -errno. */
static int open_config(const char *path, struct err *e)
{
	autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat file;

	if (fd < 0) {
		(void)err_set(e, EINVAL, "no COMMAND");
		return err_hint(e, "give one, or keep the image's configuration as %s", path);
	}
	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
		return err_set(e, EINVAL, "%s is not a regular file", path);
	return take_fd(&fd);
}

int image_config_apply(struct request *q, struct err *e)
{
	autofree char *path = NULL;
	json_error_t problem;
	json_t *image; /* kept: the spec borrows its strings */
	autoclose int fd = -1;

	if (asprintf(&path, "%s.config.json", q->spec.root) < 0)
		return err_set(e, ENOMEM, "cannot look for a command");
	fd = open_config(path, e);
	if (fd < 0)
		return fd;
	image = json_loadfd(fd, JSON_REJECT_DUPLICATES, &problem);
	if (image == NULL)
		return err_set(e, EINVAL, "%s: line %d: %s", path, problem.line, problem.text);
	if (!json_is_object(json_object_get(image, "config")))
		return wrong(path, "config", "an object", e);
	return take(q, json_object_get(image, "config"), path, e);
}
