/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/root_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
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

int note_bind(struct request *q, char *value, struct err *e)
{
	return add_bind(q, value, 0, e);
}

int note_ro_bind(struct request *q, char *value, struct err *e)
{
	return add_bind(q, value, MS_RDONLY, e);
}

int note_tmpfs(struct request *q, char *value, struct err *e)
{
	struct mount *m = &q->spec.mounts[q->spec.mount_count++];
	char *rest = value;

	(void)e;
	*m = (struct mount){ .type = "tmpfs", .flags = MS_NOSUID | MS_NODEV };
	m->target = text_next_field(&rest, ':');
	m->data = rest != NULL ? rest : "mode=1777";
	return 0;
}

static int note_tree(enum tree_kind *tree, const char *value, struct err *e)
{
	static const char *const words[] = {
		[TREE_OCI] = "oci",
		[TREE_PLAIN] = "plain",
		[TREE_NONE] = "none",
	};

	for (enum tree_kind t = TREE_OCI; t <= TREE_NONE; t++)
		if (strcmp(value, words[t]) == 0) {
			*tree = t;
			return 0;
		}
	return err_set(e, EINVAL, "'%s' is none of oci, plain and none", value);
}

int note_proc(struct request *q, char *value, struct err *e)
{
	return note_tree(&q->spec.proc, value, e);
}

int note_sys(struct request *q, char *value, struct err *e)
{
	return note_tree(&q->spec.sys, value, e);
}

int note_dev(struct request *q, char *value, struct err *e)
{
	return note_tree(&q->spec.dev, value, e);
}

int note_overlay_dir(struct request *q, char *value, struct err *e)
{
	q->spec.overlay = OVERLAY_KEPT;
	return absolute(value, &q->spec.overlay_dir, e);
}
