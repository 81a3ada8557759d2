/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_control.c - ps, pause, resume and update: what works through the cgroups */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/bundle_life.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/state.h"

enum { RESOURCES_MAX = 1 << 20 };

int oci_open_live(struct oci_call *call, bool lock, struct state *s, enum state_status *ret_now,
		  struct err *e)
{
	const char *id = NULL;

	if (oci_needs_id(call, &id, e) < 0 ||
	    (call->root == NULL && state_default_root(&call->root, e) < 0) ||
	    state_open(call->root, id, lock, s, e) < 0)
		return -e->code;
	*ret_now = state_status(s);
	if (*ret_now == STATE_STOPPED || *ret_now == STATE_CREATING)
		return err_set(e, ESRCH, "container '%s' is not running", id);
	return 0;
}

int oci_ps(struct oci_call *call, struct err *e)
{
	struct state s = { .folder = -1 };
	enum state_status now = STATE_STOPPED;
	autofree pid_t *pids = NULL;
	size_t count;

	if (call->format != NULL && strcmp(call->format, "json") != 0 &&
	    strcmp(call->format, "table") != 0)
		return err_set(e, ENOTSUP, "--format %s is not supported", call->format);
	if (oci_open_live(call, false, &s, &now, e) < 0 ||
	    bundle_members(&s.cgroups, &pids, &count, e) < 0)
		return -e->code;
	if (call->format != NULL && strcmp(call->format, "json") == 0) {
		putchar('[');
		for (size_t i = 0; i < count; i++)
			printf("%s%d", i > 0 ? "," : "", pids[i]);
		puts("]");
		return 0;
	}
	puts("PID");
	for (size_t i = 0; i < count; i++)
		printf("%d\n", pids[i]);
	return 0;
}

static int set_frozen(struct oci_call *call, enum state_status wanted, bool freeze, struct err *e)
{
	struct state s = { .folder = -1 };
	enum state_status now = STATE_STOPPED;

	if (oci_open_live(call, true, &s, &now, e) < 0)
		return -e->code;
	if (now != wanted && !(freeze && now == STATE_CREATED))
		return err_set(e, EBUSY, "container '%s' is %s", s.id, state_word(now));
	return bundle_freeze(&s.cgroups, freeze, e);
}

int oci_pause(struct oci_call *call, struct err *e)
{
	return set_frozen(call, STATE_RUNNING, true, e);
}

int oci_resume(struct oci_call *call, struct err *e)
{
	return set_frozen(call, STATE_PAUSED, false, e);
}

static int set_number(struct json *resources, const char *part, const char *key, const char *text,
		      struct err *e)
{
	struct json *o = doc_get(resources, part);
	bool negative = text != NULL && text[0] == '-';
	uint64_t value;

	if (text == NULL)
		return 0;
	if (!text_to_number(text + negative, INT64_MAX, &value))
		return err_set(e, EINVAL, "'%s' is not a number", text);
	if (o == NULL) {
		o = doc_new_object();
		doc_set(resources, part, o);
	}
	doc_set_integer(o, key, negative ? -(int64_t)value : (int64_t)value);
	return 0;
}

static int resources_of_options(const struct oci_call *c, struct json *r, struct err *e)
{
	if (set_number(r, "memory", "limit", c->memory, e) < 0 ||
	    set_number(r, "memory", "swap", c->memory_swap, e) < 0 ||
	    set_number(r, "memory", "reservation", c->memory_reservation, e) < 0 ||
	    set_number(r, "cpu", "quota", c->cpu_quota, e) < 0 ||
	    set_number(r, "cpu", "period", c->cpu_period, e) < 0 ||
	    set_number(r, "cpu", "shares", c->cpu_shares, e) < 0 ||
	    set_number(r, "cpu", "realtimePeriod", c->cpu_rt_period, e) < 0 ||
	    set_number(r, "cpu", "realtimeRuntime", c->cpu_rt_runtime, e) < 0 ||
	    set_number(r, "memory", "kernel", c->kernel_memory, e) < 0 ||
	    set_number(r, "memory", "kernelTCP", c->kernel_memory_tcp, e) < 0 ||
	    set_number(r, "blockIO", "weight", c->blkio_weight, e) < 0)
		return -e->code;
	if (c->cpuset_cpus != NULL || c->cpuset_mems != NULL) {
		struct json *cpu = doc_get(r, "cpu");

		if (cpu == NULL)
			doc_set(r, "cpu", cpu = doc_new_object());
		if (c->cpuset_cpus != NULL)
			doc_set_text(cpu, "cpus", c->cpuset_cpus);
		if (c->cpuset_mems != NULL)
			doc_set_text(cpu, "mems", c->cpuset_mems);
	}
	return set_number(r, "pids", "limit", c->pids_limit, e);
}

static int read_resources(const struct oci_call *call, struct json **ret, struct err *e)
{
	autofree char *text = malloc(RESOURCES_MAX);
	int r;

	*ret = doc_new_object();
	if (call->resources == NULL)
		return resources_of_options(call, *ret, e);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot read the resources");
	r = strcmp(call->resources, "-") == 0
		    ? file_read_fd(STDIN_FILENO, "standard input", text, RESOURCES_MAX, e)
		    : file_read(call->resources, text, RESOURCES_MAX, e);
	return r < 0 ? r : doc_parse(text, strlen(text), "the resources", ret, e);
}

int oci_update(struct oci_call *call, struct err *e)
{
	static struct oci_config config;
	struct state s = { .folder = -1 };
	struct json *resources;
	enum state_status now = STATE_STOPPED;

	if (oci_open_live(call, true, &s, &now, e) < 0 || read_resources(call, &resources, e) < 0 ||
	    oci_resources_read(resources, &config, e) < 0)
		return -e->code;
	return bundle_limit(&s.cgroups, &config.bundle, e);
}
