/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/oci_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "engine/offsets_now.h"
#include "front/doc.h"
#include "front/json_text.h"
#include "front/oci_commands.h"

enum { CONFIG_MAX = 8 << 20 };

static bool leaves_alone(const struct clock_target *t)
{
	return t->aim == CLOCK_SHIFTED && t->value.s == 0 && t->value.ns == 0;
}

static bool asks(const struct clock_targets *t)
{
	return !leaves_alone(&t->monotonic) || !leaves_alone(&t->boottime);
}

/* Parses the text, which lives as long as *c. */
static int read_config(char *text, const char *name, struct oci_config *c,
		       const struct json **ret_linux, struct err *e)
{
	if (doc_parse(text, strlen(text), name, &c->root, e) < 0 ||
	    doc_text(c->root, "ociVersion", &c->version, e) < 0)
		return -e->code;
	if (c->version == NULL)
		return err_set(e, EINVAL, "%s has no 'ociVersion': it is no config.json", name);
	if (doc_object(c->root, "annotations", &c->annotations, e) < 0 ||
	    doc_object(c->root, "linux", ret_linux, e) < 0)
		return -e->code;
	return oci_namespaces_read(*ret_linux, c, e);
}

/* Explicit offsets stay what they are: whoever wrote them has counted them for the runtime. */
static int set_clock(char **text, const char *clock, const struct clock_target *target,
		     struct clock_offset offset, const struct json *explicit)
{
	const char *path[] = { "linux", "timeOffsets", clock, NULL };
	char value[80];

	if (leaves_alone(target) || doc_get(explicit, clock) != NULL)
		return 0;
	snprintf(value, sizeof value, "{\"secs\": %" PRId64 ", \"nanosecs\": %" PRIu32 "}",
		 offset.s, offset.ns);
	return json_text_set(text, path, value);
}

/* Tried with crun 1.21, which says "unshare: Invalid argument" and no more. */
static const char joins_pid[] =
	"the container joins a pid namespace and gets a time namespace of its own, "
	"which crun cannot do: timens-oci can";

/* Replaces *text, or leaves it alone on error and when no clocks are asked for. */
static int patch(char **text, const char *name, const struct oci_clock_flags *flags,
		 const char **ret_warning, struct err *e)
{
	static const char *const list[] = { "linux", "namespaces", NULL };
	autofree char *result = strdup(*text), *parsed = strdup(*text); /* parsing changes it */
	const struct json *linux_part = NULL, *explicit = NULL;
	struct clock_offsets offsets = { 0 };
	struct oci_config c = { 0 }, again = { 0 };
	bool listed;

	if (result == NULL || parsed == NULL)
		return err_set(e, ENOMEM, "cannot keep %s", name);
	if (read_config(parsed, name, &c, &linux_part, e) < 0)
		return -e->code;
	listed = creates(&c.spec, CLONE_NEWTIME);
	if (oci_clocks_read(linux_part, flags, &c, e) < 0 ||
	    doc_object(linux_part, "timeOffsets", &explicit, e) < 0 ||
	    (asks(&c.spec.clocks) && offsets_now(&c.spec.clocks, &offsets, e) < 0))
		return -e->code;
	if (c.timeline != NULL) /* somebody has to stay and keep it */
		return err_set(e, ENOTSUP,
			       "run.timens.timeline: only timens-oci itself as the runtime keeps "
			       "timelines");
	if ((creates(&c.spec, CLONE_NEWTIME) && !listed &&
	     json_text_append(&result, list, "{\"type\": \"time\"}") < 0) ||
	    set_clock(&result, "monotonic", &c.spec.clocks.monotonic, offsets.monotonic, explicit) <
		    0 ||
	    set_clock(&result, "boottime", &c.spec.clocks.boottime, offsets.boottime, explicit) < 0)
		return err_set(e, ENOMEM, "cannot keep %s", name);
	free(parsed);
	parsed = strdup(result);
	if (parsed == NULL)
		return err_set(e, ENOMEM, "cannot keep %s", name);
	if (read_config(parsed, name, &again, &linux_part, e) < 0)
		return -e->code;
	if (creates(&c.spec, CLONE_NEWTIME) && c.spec.join[NS_PID] != NULL)
		*ret_warning = joins_pid;
	free(*text);
	*text = result;
	result = NULL;
	return 0;
}

/* NULL with *e filled on error. */
static char *read_text(int fd, const char *name, struct err *e)
{
	autofree char *text = malloc(CONFIG_MAX);
	char *copy;

	if (text != NULL && file_read_fd(fd, name, text, CONFIG_MAX, e) < 0)
		return NULL;
	copy = text != NULL ? strdup(text) : NULL;
	if (copy == NULL)
		(void)err_set(e, ENOMEM, "cannot read %s", name);
	return copy;
}

int oci_patch_stream(const struct oci_clock_flags *flags, const char **ret_warning, struct err *e)
{
	autofree char *text = NULL;
	int r;

	if (isatty(STDIN_FILENO)) {
		(void)err_set(e, EINVAL, "standard input is a terminal, not a config.json");
		return err_hint(e, "give the file as input: < config.json");
	}
	text = read_text(STDIN_FILENO, "standard input", e);
	if (text == NULL)
		return -e->code;
	r = patch(&text, "standard input", flags, ret_warning, e);
	return r < 0 ? r : output_text(text, e);
}

static int write_beside(const char *path, const char *text, const struct stat *like, struct err *e)
{
	autofree char *fresh = NULL;
	size_t length = strlen(text);
	autoclose int fd = -1;

	if (asprintf(&fresh, "%s.XXXXXX", path) < 0)
		return err_set(e, ENOMEM, "cannot write %s", path);
	fd = mkostemp(fresh, O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot make a file beside %s", path);
	if (write(fd, text, length) != (ssize_t)length ||
	    fchown(fd, like->st_uid, like->st_gid) < 0 || fchmod(fd, like->st_mode & 07777) < 0 ||
	    fsync(fd) < 0 || rename(fresh, path) < 0) {
		(void)err_set(e, errno != 0 ? errno : EIO, "cannot replace %s", path);
		(void)unlink(fresh); /* the first failure is the one to tell */
		return -e->code;
	}
	return 0;
}

static int patch_file(const char *path, const struct oci_clock_flags *flags,
		      const char **ret_warning, struct err *e)
{
	/* A link would be replaced by a file, and a pipe would let us wait. */
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autofree char *text = NULL, *old = NULL;
	struct stat s;
	int r;

	if (fd < 0 || fstat(fd, &s) < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (!S_ISREG(s.st_mode))
		return err_set(e, EINVAL, "%s is no file", path);
	text = read_text(fd, path, e);
	if (text == NULL)
		return -e->code;
	old = strdup(text);
	if (old == NULL)
		return err_set(e, ENOMEM, "cannot keep %s", path);
	r = patch(&text, path, flags, ret_warning, e);
	return r < 0 || strcmp(old, text) == 0 ? r : write_beside(path, text, &s, e);
}

int oci_patch_config(struct oci_call *call, struct err *e)
{
	const char *warning = NULL;
	autofree char *path = NULL;
	int r;

	if (call->word_count > 0)
		return err_set(e, EINVAL, "a word too many: '%s'", call->words[0]);
	if (call->config != NULL)
		path = strdup(call->config);
	else if (call->bundle != NULL && asprintf(&path, "%s/config.json", call->bundle) < 0)
		path = NULL;
	if (path == NULL && (call->config != NULL || call->bundle != NULL))
		return err_set(e, ENOMEM, "cannot keep the path of the bundle");
	r = path != NULL ? patch_file(path, &call->clocks, &warning, e)
			 : oci_patch_stream(&call->clocks, &warning, e);
	if (warning != NULL)
		log_warning("%s", warning);
	return r;
}
