/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_clocks.c - what the clocks of a bundle shall read: timeOffsets, annotations, flags
 *
 * Ranks, from high to low: linux.timeOffsets, annotations for one container, annotations for the
 * pod, flags of the runtime.  Two different values for one clock at one rank are an error.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "front/doc.h"
#include "front/oci_config.h"
#include "model/near_wrap.h"

const char *const oci_annotations[] = { "run.timens.offset",
					"run.timens.boottime",
					"run.timens.monotonic",
					"run.timens.uptime",
					"run.timens.timeline",
					"run.timens.timeline-mode",
					NULL };

struct wish {
	bool given[2];
	struct clock_target clock[2]; /* monotonic, boottime */
	const char *timeline, *timeline_mode;
};

enum { MONOTONIC = 1, BOOTTIME = 2, BOTH = 3 };

static bool same(const struct clock_target *a, const struct clock_target *b)
{
	return a->aim == b->aim && a->value.s == b->value.s && a->value.ns == b->value.ns;
}

static int wish_for(struct wish *w, int clocks, const char *name, struct clock_target target,
		    struct err *e)
{
	for (int i = 0; i < 2; i++) {
		if (!(clocks >> i & 1))
			continue;
		if (w->given[i] && !same(&w->clock[i], &target))
			return err_set(e, EINVAL,
				       "%s contradicts another value for the %s clock at its rank",
				       name, i == 0 ? "monotonic" : "boottime");
		w->given[i] = true;
		w->clock[i] = target;
	}
	return 0;
}

static int wish_for_clock(struct wish *w, const char *name, const char *kind, const char *value,
			  struct err *e)
{
	bool uptime = strcmp(kind, "uptime") == 0;
	struct clock_target target = { .aim = uptime ? CLOCK_READS : CLOCK_SHIFTED };
	int clocks = strcmp(kind, "monotonic") == 0  ? MONOTONIC
		     : strcmp(kind, "boottime") == 0 ? BOOTTIME
						     : BOTH;
	uint64_t random_bits = 0;
	int r;

	if (uptime && getrandom(&random_bits, sizeof random_bits, 0) < 0)
		return err_set(e, errno, "cannot get random bits");
	r = uptime ? uptime_parse(value, random_bits, &target.value, e)
		   : clock_offset_parse(value, &target.value, e);
	if (r < 0) { /* the name of the annotation is what the user can find */
		char text[sizeof e->text];

		snprintf(text, sizeof text, "%.60s: %.180s", name, e->text);
		memcpy(e->text, text, sizeof text);
		return r;
	}
	return wish_for(w, clocks, name, target, e);
}

/* A key and no path: what an engine's user writes must not choose files of the host. */
static int check_key(const char *name, const char *key, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_+-.@";
	enum { KEY_MAX = 200 };
	size_t length = strlen(key);

	if (length == 0 || length > KEY_MAX || strspn(key, allowed) != length || key[0] == '.' ||
	    (length >= 4 && strcmp(key + length - 4, ".new") == 0))
		return err_set(e, EINVAL,
			       "%s: '%.100s' is not a key of letters, digits, _+-.@ (not starting "
			       "with a dot, nor ending with .new)",
			       name, key);
	return 0;
}

static int wish_by_text(struct wish *w, const char *name, const char *kind, const char *value,
			struct err *e)
{
	if (strcmp(kind, "timeline") == 0) {
		w->timeline = value;
		return check_key(name, value, e);
	}
	if (strcmp(kind, "timeline-mode") == 0) {
		w->timeline_mode = value;
		if (strcmp(value, "pause") != 0 && strcmp(value, "wall") != 0)
			return err_set(e, EINVAL, "%s: '%.60s' is neither pause nor wall", name,
				       value);
		return 0;
	}
	return wish_for_clock(w, name, kind, value, e);
}

struct annotation_search {
	const char *container; /* its name in the pod, or NULL */
	struct wish one, pod;
};

static int look_at_annotation(const char *key, const struct json *value, void *arg, struct err *e)
{
	static const char prefix[] = "run.timens.";
	struct annotation_search *s = arg;
	const char *kind = key + sizeof prefix - 1, *text = doc_as_text(value);
	const char *slash = strchr(key, '/');
	size_t length = slash != NULL ? (size_t)(slash - key) : strlen(key);
	char plain[32];

	if (strncmp(key, prefix, sizeof prefix - 1) != 0)
		return 0;
	if (text == NULL)
		return err_set(e, EINVAL, "annotation '%s' must be a string", key);
	for (size_t i = 0; oci_annotations[i] != NULL; i++) {
		if (strlen(oci_annotations[i]) != length ||
		    memcmp(oci_annotations[i], key, length) != 0)
			continue;
		snprintf(plain, sizeof plain, "%.*s", (int)(length - sizeof prefix + 1), kind);
		if (slash == NULL)
			return wish_by_text(&s->pod, key, plain, text, e);
		if (s->container != NULL && strcmp(slash + 1, s->container) == 0)
			return wish_by_text(&s->one, key, plain, text, e);
		return 0; /* meant for another container of the pod */
	}
	return err_set(e, ENOTSUP, "annotation '%s' is not supported", key);
}

static int look_at_flags(const struct oci_clock_flags *f, struct wish *w, struct err *e)
{
	int r = 0;

	if (f->offset != NULL)
		r = wish_by_text(w, "--offset", "offset", f->offset, e);
	if (r == 0 && f->boottime != NULL)
		r = wish_by_text(w, "--boottime", "boottime", f->boottime, e);
	if (r == 0 && f->monotonic != NULL)
		r = wish_by_text(w, "--monotonic", "monotonic", f->monotonic, e);
	if (r == 0 && f->uptime != NULL)
		r = wish_by_text(w, "--uptime", "uptime", f->uptime, e);
	if (r == 0 && f->timeline != NULL)
		r = wish_by_text(w, "--timeline", "timeline", f->timeline, e);
	if (r == 0 && f->timeline_mode != NULL)
		r = wish_by_text(w, "--timeline-mode", "timeline-mode", f->timeline_mode, e);
	return r;
}

static int look_at_offset(const char *key, const struct json *value, void *arg, struct err *e)
{
	struct clock_target target = { .aim = CLOCK_SHIFTED };
	struct json *holder = doc_new_object();
	const struct json *offset;
	int64_t ns = 0, s = 0;
	int clocks = strcmp(key, "monotonic") == 0  ? MONOTONIC
		     : strcmp(key, "boottime") == 0 ? BOOTTIME
						    : 0;

	if (clocks == 0)
		return err_set(e, EINVAL,
			       "'linux.timeOffsets.%s': only monotonic and boottime have offsets",
			       key);
	doc_set(holder, key, doc_keep(value));
	if (doc_object(holder, key, &offset, e) < 0 ||
	    doc_integer(offset, "secs", INT64_MIN / 4, INT64_MAX / 4, &s, e) < 0 ||
	    doc_integer(offset, "nanosecs", 0, 999999999, &ns, e) < 0)
		return -e->code;
	target.value = (struct clock_offset){ .s = s, .ns = (uint32_t)ns };
	return wish_for(arg, clocks, "linux.timeOffsets", target, e);
}

/* Fills what higher ranks have left open. */
static void grant(struct clock_targets *to, const struct wish *w, bool granted[2])
{
	if (w->given[0] && !granted[0])
		to->monotonic = w->clock[0];
	if (w->given[1] && !granted[1])
		to->boottime = w->clock[1];
	granted[0] |= w->given[0];
	granted[1] |= w->given[1];
}

static const char *container_name(const struct json *annotations)
{
	static const char *const keys[] = { "io.kubernetes.cri.container-name",
					    "io.kubernetes.container.name",
					    "io.kubernetes.cri-o.ContainerName" };
	const char *name = NULL;

	for (size_t i = 0; name == NULL && i < sizeof keys / sizeof *keys; i++)
		name = doc_as_text(doc_get(annotations, keys[i]));
	return name;
}

/* All containers of a pod get its annotations, the one that only holds its namespaces as well: that
 * one has no time of its own. */
static bool is_sandbox(const struct json *annotations)
{
	static const char *const keys[] = { "io.kubernetes.cri.container-type",
					    "io.kubernetes.cri-o.ContainerType" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *type = doc_as_text(doc_get(annotations, keys[i]));

		if (type != NULL && strcmp(type, "sandbox") == 0)
			return true;
	}
	return false;
}

static int choose_timeline(const struct wish *const ranks[], size_t count, struct oci_config *c,
			   struct err *e)
{
	const char *mode = NULL;

	for (size_t i = 0; i < count; i++) { /* from high to low */
		c->timeline = c->timeline != NULL ? c->timeline : ranks[i]->timeline;
		mode = mode != NULL ? mode : ranks[i]->timeline_mode;
	}
	if (c->timeline == NULL)
		return mode == NULL ? 0 : err_set(e, EINVAL, "a timeline-mode without a timeline");
	if (is_sandbox(c->annotations)) {
		c->timeline = NULL;
		return 0;
	}
	c->timeline_mode =
		mode != NULL && strcmp(mode, "wall") == 0 ? TIMELINE_WALL : TIMELINE_PAUSE;
	if (c->spec.join[NS_TIME] != NULL)
		return err_set(e, EINVAL,
			       "a timeline is asked for, but the time namespace is joined by path "
			       "and has clocks already");
	/* Else processes could outlive the program, and read clocks that nobody records. */
	if (!creates(&c->spec, CLONE_NEWPID))
		return err_set(e, EINVAL, "a timeline needs a new pid namespace");
	c->spec.new_namespaces |= CLONE_NEWTIME;
	return 0;
}

int oci_clocks_read(const struct json *linux_part, const struct oci_clock_flags *flags,
		    struct oci_config *c, struct err *e)
{
	struct annotation_search found = { .container = container_name(c->annotations) };
	struct wish from_spec = { 0 }, from_flags = { 0 };
	const struct json *offsets = NULL;
	bool granted[2] = { false, false };
	int r = doc_object(linux_part, "timeOffsets", &offsets, e);

	if (r == 0)
		r = doc_each(offsets, look_at_offset, &from_spec, e);
	if (r == 0)
		r = doc_each(c->annotations, look_at_annotation, &found, e);
	if (r == 0)
		r = look_at_flags(flags, &from_flags, e);
	if (r < 0)
		return r;
	grant(&c->spec.clocks, &from_spec, granted);
	grant(&c->spec.clocks, &found.one, granted);
	grant(&c->spec.clocks, &found.pod, granted);
	grant(&c->spec.clocks, &from_flags, granted);
	r = choose_timeline((const struct wish *const[]){ &found.one, &found.pod, &from_flags }, 3,
			    c, e);
	if (r < 0)
		return r;
	if (!granted[0] && !granted[1])
		return 0;
	if (c->spec.join[NS_TIME] != NULL && (from_spec.given[0] || from_spec.given[1]))
		return err_set(e, EINVAL,
			       "timeOffsets and a path for the time namespace: it has "
			       "clocks already");
	if (c->spec.join[NS_TIME] != NULL)
		return err_set(e, EINVAL,
			       "offsets are asked for, but the time namespace is "
			       "joined by path and has clocks already");
	if ((from_spec.given[0] || from_spec.given[1]) && !creates(&c->spec, CLONE_NEWTIME))
		return err_set(e, EINVAL, "timeOffsets without a time namespace");
	/* Engines do not list one, and an annotation means nothing without it. */
	c->spec.new_namespaces |= CLONE_NEWTIME;
	return 0;
}
