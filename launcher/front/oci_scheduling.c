/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_scheduling.c - when and where the kernel lets the program run
 *
 * Source: config.md, "Linux Process": scheduler, ioPriority, execCPUAffinity; sched_setattr(2).
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/text.h"
#include "front/doc.h"
#include "front/oci_config.h"

static int read_io_priority(const struct json *process, struct oci_config *c, struct err *e)
{
	static const char *const classes[] = { "IOPRIO_CLASS_NONE", "IOPRIO_CLASS_RT",
					       "IOPRIO_CLASS_BE", "IOPRIO_CLASS_IDLE" };
	const struct json *p;
	const char *name = NULL;
	int64_t level = 0;

	if (doc_object(process, "ioPriority", &p, e) < 0 || doc_text(p, "class", &name, e) < 0 ||
	    doc_integer(p, "priority", 0, 7, &level, e) < 0)
		return -e->code;
	if (p == NULL)
		return 0;
	for (int i = 0; name != NULL && i < 4; i++)
		if (strcmp(name, classes[i]) == 0) {
			c->bundle.io_priority = i << 13 | (int)level; /* IOPRIO_PRIO_VALUE() */
			return 0;
		}
	return err_set(e, EINVAL, "'ioPriority.class' is not known");
}

static int read_flags(const struct json *in, uint64_t *ret, struct err *e)
{
	static const struct {
		const char *name;
		uint64_t value;
	} known[] = {
		{ "SCHED_FLAG_RESET_ON_FORK", SCHED_FLAG_RESET_ON_FORK },
		{ "SCHED_FLAG_RECLAIM", SCHED_FLAG_RECLAIM },
		{ "SCHED_FLAG_DL_OVERRUN", SCHED_FLAG_DL_OVERRUN },
		{ "SCHED_FLAG_KEEP_POLICY", SCHED_FLAG_KEEP_POLICY },
		{ "SCHED_FLAG_KEEP_PARAMS", SCHED_FLAG_KEEP_PARAMS },
		{ "SCHED_FLAG_UTIL_CLAMP_MIN", SCHED_FLAG_UTIL_CLAMP_MIN },
		{ "SCHED_FLAG_UTIL_CLAMP_MAX", SCHED_FLAG_UTIL_CLAMP_MAX },
	};
	char **names = NULL;
	int r = doc_texts(in, "flags", &names, e);

	for (char **n = names; r == 0 && n != NULL && *n != NULL; n++) {
		size_t i = 0;

		while (i < sizeof known / sizeof *known && strcmp(known[i].name, *n) != 0)
			i++;
		if (i == sizeof known / sizeof *known)
			r = err_set(e, EINVAL, "'scheduler.flags': '%s' is not known", *n);
		else
			*ret |= known[i].value;
	}
	free(names);
	return r;
}

static int read_scheduler(const struct json *process, struct scheduling *ret, struct err *e)
{
	static const char *const policies[] = { "SCHED_OTHER",   "SCHED_FIFO", "SCHED_RR",
						"SCHED_BATCH",   "SCHED_ISO",  "SCHED_IDLE",
						"SCHED_DEADLINE" }; /* in the kernel's order */
	int64_t nice = 0, priority = 0, runtime_ns = 0, deadline_ns = 0, period_ns = 0;
	struct scheduling s = { .size = sizeof s };
	const char *policy = NULL;
	const struct json *in;

	if (doc_object(process, "scheduler", &in, e) < 0 ||
	    doc_text(in, "policy", &policy, e) < 0 ||
	    doc_integer(in, "nice", -20, 19, &nice, e) < 0 ||
	    doc_integer(in, "priority", 0, 99, &priority, e) < 0 ||
	    doc_integer(in, "runtime", 0, INT64_MAX, &runtime_ns, e) < 0 ||
	    doc_integer(in, "deadline", 0, INT64_MAX, &deadline_ns, e) < 0 ||
	    doc_integer(in, "period", 0, INT64_MAX, &period_ns, e) < 0 ||
	    read_flags(in, &s.flags, e) < 0)
		return -e->code;
	if (in == NULL)
		return 0;
	while (s.policy < sizeof policies / sizeof *policies && policy != NULL &&
	       strcmp(policies[s.policy], policy) != 0)
		s.policy++;
	if (policy == NULL || s.policy == sizeof policies / sizeof *policies)
		return err_set(e, EINVAL, "'scheduler.policy' is not known");
	s.nice = (int32_t)nice;
	s.priority = (uint32_t)priority;
	s.runtime_ns = (uint64_t)runtime_ns;
	s.deadline_ns = (uint64_t)deadline_ns;
	s.period_ns = (uint64_t)period_ns;
	*ret = s;
	return 0;
}

/* "0-3,7" */
static int read_processors(const struct json *in, const char *key, cpu_set_t **ret, struct err *e)
{
	const char *list = NULL;
	autofree char *copy = NULL;
	char *rest, *range;
	cpu_set_t *set;

	if (doc_text(in, key, &list, e) < 0)
		return -e->code;
	if (list == NULL || *list == '\0')
		return 0;
	rest = copy = strdup(list);
	set = calloc(1, sizeof *set);
	if (copy == NULL || set == NULL)
		return err_set(e, ENOMEM, "cannot keep 'execCPUAffinity'");
	*ret = set;
	while ((range = text_next_field(&rest, ',')) != NULL) {
		char *last = range, *first = text_next_field(&last, '-');
		uint64_t from, to;

		if (!text_to_number(first, CPU_SETSIZE - 1, &from))
			return err_set(e, EINVAL, "'execCPUAffinity.%s': '%s' is no list of CPUs",
				       key, list);
		to = from;
		if (last != NULL && (!text_to_number(last, CPU_SETSIZE - 1, &to) || to < from))
			return err_set(e, EINVAL, "'execCPUAffinity.%s': '%s' is no list of CPUs",
				       key, list);
		for (; from <= to; from++)
			CPU_SET(from, set);
	}
	return 0;
}

int oci_scheduling_read(const struct json *process, struct oci_config *c, struct err *e)
{
	struct bundle *b = &c->bundle;
	const struct json *cpus;

	b->scheduling = (struct scheduling){ 0 };
	b->exec_cpus_before = b->exec_cpus = NULL;
	if (read_io_priority(process, c, e) < 0 || read_scheduler(process, &b->scheduling, e) < 0 ||
	    doc_object(process, "execCPUAffinity", &cpus, e) < 0 ||
	    read_processors(cpus, "initial", &b->exec_cpus_before, e) < 0)
		return -e->code;
	return read_processors(cpus, "final", &b->exec_cpus, e);
}

int oci_personality_read(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	enum { LINUX = 0, LINUX32 = 8 }; /* PER_LINUX, PER_LINUX32 of personality(2) */
	const struct json *in, *flags;
	const char *domain = NULL;
	size_t flag_count;

	if (doc_object(linux_part, "personality", &in, e) < 0 ||
	    doc_text(in, "domain", &domain, e) < 0 ||
	    doc_array(in, "flags", &flags, &flag_count, e) < 0)
		return -e->code;
	if (in == NULL)
		return 0;
	if (flag_count > 0)
		return err_set(e, EINVAL, "'linux.personality.flags': none is known");
	if (domain == NULL || (strcmp(domain, "LINUX") != 0 && strcmp(domain, "LINUX32") != 0))
		return err_set(e, EINVAL, "'linux.personality.domain' is not LINUX or LINUX32");
	c->bundle.has_personality = true;
	c->bundle.personality = strcmp(domain, "LINUX") == 0 ? LINUX : LINUX32;
	return 0;
}
