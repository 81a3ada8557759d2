/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/clock_offsets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "model/namespaces.h"

#define OFFSETS_FILE "/proc/self/timens_offsets"
#define FUTURE_NS_FILE "/proc/self/ns/time_for_children"

static struct clock_offset reading_of(clockid_t clock)
{
	return clock_offset_from_ns(clock_now_ns(clock));
}

/* Our clocks and our own offsets, zero unless we are nested, and what is to be written then.  A time
 * namespace that has just been created has the offsets of its creator.  Without a file (-1) our own
 * are taken for zero, which changes no reading. */
static int resolve(int file, const struct clock_targets *targets, struct clock_view *ret_now,
		   struct clock_offsets *ret_offsets, struct err *e)
{
	char lines[160];
	ssize_t n = file >= 0 ? pread(file, lines, sizeof lines - 1, 0) : 0;

	if (n < 0)
		return err_set(e, errno, "cannot read %s", OFFSETS_FILE);
	lines[n] = '\0';
	if (file >= 0 && !clock_offsets_parse(lines, &ret_now->own))
		return err_set(e, EPROTO, "%s has an unknown form", OFFSETS_FILE);
	/* Read as late as possible: from here on the clocks run away from a wanted reading. */
	ret_now->monotonic = reading_of(CLOCK_MONOTONIC);
	ret_now->raw = reading_of(CLOCK_MONOTONIC_RAW);
	ret_now->boottime = reading_of(CLOCK_BOOTTIME);
	return clock_targets_resolve(targets, ret_now, ret_offsets, e);
}

static int write_offsets(const struct clock_targets *targets, struct err *e)
{
	autoclose int file = open(OFFSETS_FILE, O_RDWR | O_CLOEXEC);
	struct clock_view now = { 0 };
	struct clock_offsets offsets = { 0 };
	char lines[160];
	int len, r;

	if (file < 0)
		return err_set(e, errno, "cannot open %s", OFFSETS_FILE);
	r = resolve(file, targets, &now, &offsets, e);
	if (r < 0)
		return r;

	/* Both clocks in one write: the kernel applies all lines or none. */
	len = snprintf(lines, sizeof lines,
		       "monotonic %" PRId64 " %" PRIu32 "\nboottime %" PRId64 " %" PRIu32 "\n",
		       offsets.monotonic.s, offsets.monotonic.ns, offsets.boottime.s,
		       offsets.boottime.ns);
	if (write(file, lines, (size_t)len) != len)
		return err_set(e, errno, "cannot write %s", OFFSETS_FILE);
	if (targets->monotonic.aim == CLOCK_READS || targets->boottime.aim == CLOCK_READS)
		log_info("the clocks were set within %" PRId64 " ns of the reading asked for",
			 clock_now_ns(CLOCK_MONOTONIC) -
				 (int64_t)clock_offset_to_ns(now.monotonic));
	return 0;
}

static bool leaves_alone(const struct clock_target *t)
{
	return t->aim == CLOCK_SHIFTED && t->value.s == 0 && t->value.ns == 0;
}

int clock_offsets_check(const struct clock_targets *targets, struct err *e)
{
	struct clock_view now = { 0 };
	struct clock_offsets offsets = { 0 };
	struct clock_offset raw;
	char text[CLOCK_OFFSET_TEXT];
	/* The bounds are of readings, which know nothing of offsets that we have ourselves. */
	int r = resolve(-1, targets, &now, &offsets, e);

	if (r < 0)
		return r;
	if (clock_raw_starts_below_zero(&offsets, &now, &raw))
		log_warning("CLOCK_MONOTONIC_RAW starts at %s s, below zero: it runs behind "
			    "CLOCK_MONOTONIC on this host",
			    clock_offset_format(raw, text));
	return 0;
}

int clock_offsets_now(const struct clock_targets *targets, struct clock_offsets *ret_offsets,
		      struct err *e)
{
	autoclose int file = open(OFFSETS_FILE, O_RDONLY | O_CLOEXEC);
	struct clock_view now = { 0 };

	if (file < 0)
		return err_set(e, errno, "cannot open %s", OFFSETS_FILE);
	return resolve(file, targets, &now, ret_offsets, e);
}

int clock_offsets_enter(const struct clock_targets *targets, struct err *e)
{
	autoclose int future_ns = -1;

	/* unshare(2) does not move the caller, it only chooses where its children will live.
	 * In that gap, and never later, the offsets can be written. */
	if (unshare(CLONE_NEWTIME) < 0) {
		(void)err_set(e, errno, "cannot create a time namespace");
		if (e->code == EINVAL)
			return err_hint(e, "this kernel has none (CONFIG_TIME_NS, Linux 5.6): "
					   "leave the clocks alone with --share time");
		if (e->code == EPERM)
			return err_hint(e, "only root may; others first need a user namespace: "
					   "--only user,time");
		if (e->code == ENOSPC)
			return err_hint(e, "a limit of namespaces is reached, see sysctl "
					   "user.max_time_namespaces");
		return -e->code;
	}
	if (!leaves_alone(&targets->monotonic) || !leaves_alone(&targets->boottime)) {
		int r = write_offsets(targets, e);

		if (r < 0)
			return r;
	}
	future_ns = open(FUTURE_NS_FILE, O_RDONLY | O_CLOEXEC);
	if (future_ns < 0)
		return err_set(e, errno, "cannot open %s", FUTURE_NS_FILE);
	if (setns(future_ns, CLONE_NEWTIME) < 0)
		return err_set(e, errno, "cannot enter the new time namespace");
	return 0;
}

void clock_offsets_tell(void)
{
	char monotonic[CLOCK_OFFSET_TEXT], boottime[CLOCK_OFFSET_TEXT];

	if (!log_verbose)
		return;
	log_info("the command starts when CLOCK_MONOTONIC reads %s s, CLOCK_BOOTTIME %s s",
		 clock_offset_format(reading_of(CLOCK_MONOTONIC), monotonic) + 1,
		 clock_offset_format(reading_of(CLOCK_BOOTTIME), boottime) + 1);
}
