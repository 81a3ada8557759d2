/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_events.c - events: what a container uses, once or again and again, and when memory runs out */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "engine/bundle_life.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/state.h"
#include "model/clock_offset.h"

enum { INTERVAL_S = 5, LOOK_MS = 200, MS_PER_S = 1000, NS_PER_MS = 1000 * 1000 };

static void put(const struct state *s, struct json *o, const char *key, const char *v1_file,
		const char *v2_file)
{
	char text[256];

	bundle_read(&s->cgroups, v1_file, text, sizeof text);
	if (text[0] == '\0')
		bundle_read(&s->cgroups, v2_file, text, sizeof text);
	if (text[0] >= '0' && text[0] <= '9')
		doc_set_integer(o, key, strtoll(text, NULL, 10));
}

static int64_t line_of(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at != NULL ? strtoll(at + strlen(word), NULL, 10) : 0;
}

static int print_event(const char *type, const struct state *s, struct json *data, struct err *e)
{
	struct json *top = doc_new_object();
	autofree char *line = NULL;

	doc_set_text(top, "type", type);
	doc_set_text(top, "id", s->id);
	if (data != NULL)
		doc_set(top, "data", data);
	line = doc_format(top, 0);
	if (line == NULL)
		return err_set(e, ENOMEM, "cannot print an event");
	if (fputs(line, stdout) == EOF || fflush(stdout) == EOF)
		return err_set(e, errno, "cannot print an event");
	return 0;
}

static int print_stats(const struct state *s, struct err *e)
{
	struct json *data = doc_new_object(), *cpu = doc_new_object(), *usage = doc_new_object();
	struct json *memory = doc_new_object(), *used = doc_new_object(), *pids = doc_new_object();
	char text[4096];

	put(s, usage, "total", "cpuacct.usage", "");
	if (doc_get(usage, "total") == NULL) {
		bundle_read(&s->cgroups, "cpu.stat", text, sizeof text);
		doc_set_integer(usage, "total", line_of(text, "usage_usec ") * 1000);
	}
	put(s, used, "usage", "memory.usage_in_bytes", "memory.current");
	put(s, used, "limit", "memory.limit_in_bytes", "memory.max");
	put(s, used, "max", "memory.max_usage_in_bytes", "memory.peak");
	put(s, pids, "current", "pids.current", "pids.current");
	put(s, pids, "limit", "pids.max", "pids.max");
	doc_set(cpu, "usage", usage);
	doc_set(memory, "usage", used);
	doc_set(data, "cpu", cpu);
	doc_set(data, "memory", memory);
	doc_set(data, "pids", pids);
	return print_event("stats", s, data, e);
}

/* How often the kernel has ended a process of it for want of memory. */
static int64_t count_kills(const struct state *s)
{
	char text[4096];

	bundle_read(&s->cgroups, "memory.oom_control", text, sizeof text);
	if (text[0] == '\0')
		bundle_read(&s->cgroups, "memory.events", text, sizeof text);
	return line_of(text, "oom_kill ");
}

static int parse_interval(const char *text, int64_t *ret_ms, struct err *e)
{
	struct clock_offset interval = { .s = INTERVAL_S };
	int r = text != NULL ? clock_offset_parse(text, &interval, e) : 0;

	if (r < 0)
		return r;
	*ret_ms = interval.s * MS_PER_S + interval.ns / NS_PER_MS;
	return *ret_ms > 0 ? 0 : err_set(e, EINVAL, "--interval %s is no time to wait", text);
}

/* Until the container ends. */
static int follow(const struct state *s, int64_t interval_ms, struct err *e)
{
	autoclose int process = (int)syscall(SYS_pidfd_open, s->pid, 0);
	struct pollfd ended = { .fd = process, .events = POLLIN };
	int64_t kills = count_kills(s), next_ns = clock_now_ns(CLOCK_MONOTONIC);
	int r = 0, n = 0;

	if (process < 0)
		return err_set(e, ESRCH, "container '%s' is not running", s->id);
	while (r == 0 && n == 0) {
		int64_t now_ns, seen;

		n = poll(&ended, 1, interval_ms < LOOK_MS ? (int)interval_ms : LOOK_MS);
		n = n < 0 && errno == EINTR ? 0 : n;
		now_ns = clock_now_ns(CLOCK_MONOTONIC);
		seen = count_kills(s);
		for (; r == 0 && kills < seen; kills++)
			r = print_event("oom", s, NULL, e);
		if (r == 0 && n == 0 && now_ns >= next_ns) {
			next_ns = now_ns + interval_ms * NS_PER_MS;
			r = print_stats(s, e);
		}
	}
	return r;
}

int oci_events(struct oci_call *call, struct err *e)
{
	struct state s = { .folder = -1 };
	enum state_status now = STATE_STOPPED;
	int64_t interval_ms = 0;

	if (parse_interval(call->interval, &interval_ms, e) < 0 ||
	    oci_open_live(call, false, &s, &now, e) < 0)
		return -e->code;
	return call->stats ? print_stats(&s, e) : follow(&s, interval_ms, e);
}
