/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clocks/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/output.h"
#include "base/file.h"
#include "engine/visit.h"
#include "model/clock_offset.h"

enum shifted_by { BY_NOTHING, BY_MONOTONIC, BY_BOOTTIME };

static const struct {
	const char *name;
	clockid_t id;
	enum shifted_by by; /* time_namespaces(7) */
} clocks[] = {
	{ "CLOCK_REALTIME", CLOCK_REALTIME, BY_NOTHING },
	{ "CLOCK_REALTIME_ALARM", CLOCK_REALTIME_ALARM, BY_NOTHING },
	{ "CLOCK_REALTIME_COARSE", CLOCK_REALTIME_COARSE, BY_NOTHING },
	{ "CLOCK_TAI", CLOCK_TAI, BY_NOTHING },
	{ "CLOCK_MONOTONIC", CLOCK_MONOTONIC, BY_MONOTONIC },
	{ "CLOCK_MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE, BY_MONOTONIC },
	{ "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW, BY_MONOTONIC },
	{ "CLOCK_BOOTTIME", CLOCK_BOOTTIME, BY_BOOTTIME },
	{ "CLOCK_BOOTTIME_ALARM", CLOCK_BOOTTIME_ALARM, BY_BOOTTIME },
	{ "CLOCK_PROCESS_CPUTIME_ID", CLOCK_PROCESS_CPUTIME_ID, BY_NOTHING },
	{ "CLOCK_THREAD_CPUTIME_ID", CLOCK_THREAD_CPUTIME_ID, BY_NOTHING },
};
enum { CLOCKS = sizeof clocks / sizeof *clocks };

struct inside {
	int64_t reading_ns[CLOCKS];
	struct own_offsets offsets;
	struct err failure;
};

int clocks_own_offsets(struct own_offsets *ret_offsets, struct err *e)
{
	static const char path[] = "/proc/self/timens_offsets";
	struct clock_offsets offsets;
	char lines[160];
	int r = file_read(path, lines, sizeof lines, e);

	if (r == -ENOENT)
		return err_hint(
			e, "this kernel has no time namespaces (CONFIG_TIME_NS), or /proc is not "
			   "mounted here");
	if (r < 0)
		return r;
	if (!clock_offsets_parse(lines, &offsets))
		return err_set(e, EPROTO, "%s has an unknown form", path);
	ret_offsets->monotonic_ns = (long long)clock_offset_to_ns(offsets.monotonic);
	ret_offsets->boottime_ns = (long long)clock_offset_to_ns(offsets.boottime);
	return 0;
}

static void read_inside(void *result)
{
	struct inside *inside = result;

	for (size_t i = 0; i < CLOCKS; i++)
		inside->reading_ns[i] = clock_now_ns(clocks[i].id);
	(void)clocks_own_offsets(&inside->offsets, &inside->failure);
}

static int64_t offset_of(const struct own_offsets *offsets, size_t clock)
{
	if (clocks[clock].by == BY_NOTHING)
		return 0;
	return clocks[clock].by == BY_MONOTONIC ? offsets->monotonic_ns : offsets->boottime_ns;
}

static const char *seconds(int64_t ns, char text[static CLOCK_OFFSET_TEXT])
{
	int64_t size = ns < 0 ? -ns : ns;

	(void)snprintf(text, CLOCK_OFFSET_TEXT, "%s%" PRId64 ".%09" PRId64, ns < 0 ? "-" : "",
		       size / 1000000000, size % 1000000000);
	return text;
}

static int64_t resolution_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_getres(clock, &t); /* leaves 0 for a clock that is not there */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print_table(const int64_t host[CLOCKS], const struct inside *inside)
{
	printf("%-25s %21s %21s %17s %13s  %s\n", "clock", "host, s", "inside, s", "offset, s",
	       "resolution", "virtualised");
	for (size_t i = 0; i < CLOCKS; i++) {
		char a[CLOCK_OFFSET_TEXT], b[CLOCK_OFFSET_TEXT], c[CLOCK_OFFSET_TEXT];
		struct clock_offset offset = clock_offset_from_ns(offset_of(&inside->offsets, i));
		bool shifted = clocks[i].by != BY_NOTHING;
		int64_t resolution = resolution_ns(clocks[i].id);

		if (resolution == 0) {
			printf("%-25s %21s\n", clocks[i].name, "not on this host");
			continue;
		}
		printf("%-25s %21s %21s %17s %10" PRId64 " ns  %s\n", clocks[i].name,
		       seconds(host[i], a), seconds(inside->reading_ns[i], b),
		       shifted ? clock_offset_format(offset, c) : "-", resolution,
		       shifted ? "yes" : "no");
	}
}

static void print_json(const int64_t before[CLOCKS], const struct inside *inside,
		       const int64_t after[CLOCKS])
{
	const char *separator = "";

	printf("{\"clocks\": [");
	for (size_t i = 0; i < CLOCKS; i++) {
		if (resolution_ns(clocks[i].id) == 0)
			continue;
		printf("%s{\"clock\": \"%s\", \"host_before_ns\": %" PRId64
		       ", \"inside_ns\": %" PRId64 ", \"host_after_ns\": %" PRId64
		       ", \"offset_ns\": %" PRId64 ", \"resolution_ns\": %" PRId64
		       ", \"virtualised\": %s}",
		       separator, clocks[i].name, before[i], inside->reading_ns[i], after[i],
		       offset_of(&inside->offsets, i), resolution_ns(clocks[i].id),
		       clocks[i].by == BY_NOTHING ? "false" : "true");
		separator = ", ";
	}
	printf("]}\n");
}

/* The host's readings are ours without our own offsets: we may be in a container too. */
static void read_host(const struct own_offsets *own, int64_t ret_ns[CLOCKS])
{
	for (size_t i = 0; i < CLOCKS; i++)
		ret_ns[i] = clock_now_ns(clocks[i].id) - offset_of(own, i);
}

int clocks_show(pid_t pid, bool json, struct err *e)
{
	int64_t before[CLOCKS], after[CLOCKS];
	struct inside inside = { 0 };
	struct own_offsets own = { 0 };
	bool timed_out;
	int r = clocks_own_offsets(&own, e);

	if (r < 0)
		return r;
	read_host(&own, before);
	r = visit(pid, read_inside, &inside, sizeof inside, 10, &timed_out, e);
	if (r < 0)
		return r;
	read_host(&own, after);
	if (inside.failure.code != 0) {
		*e = inside.failure;
		return -e->code;
	}
	if (json)
		print_json(before, &inside, after);
	else
		print_table(before, &inside);
	return output_finish(e);
}
