/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* timeline.h - a service's own time, carried over stops, crashes, reboots and hosts
 *
 * An entry says what the clocks inside read when it was written.  While the container runs it
 * also reserves time ahead: nobody inside may read more than `reserved` before the next entry is
 * on disk (steps/timeline.c ends the container otherwise).  A start after a crash goes on from
 * `reserved`, one after a stop from `inside`; so no clock ever goes back.  The file format is in
 * timens-clocks(1), TIMELINE FILES.
 *
 * Layer: model; pure, no system call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/clock_offset.h"

struct err;

enum timeline_mode {
	TIMELINE_PAUSE, /* time inside stands still while stopped */
	TIMELINE_WALL,  /* time inside passes while stopped, as the host's CLOCK_REALTIME says */
};

enum {
	TIMELINE_RESERVE_S = 20,
	TIMELINE_TEXT_SIZE = 1024,
	TIMELINE_BOOT_ID_SIZE = 37, /* /proc/sys/kernel/random/boot_id and its NUL */
};

/* A host at one moment. */
struct timeline_moment {
	char boot_id[TIMELINE_BOOT_ID_SIZE];
	struct clock_offset realtime;
	struct clock_offsets clocks; /* as the launcher reads them */
};

struct timeline_entry {
	bool running;                  /* false: stopped in order, `inside` is the last reading */
	uint64_t starts;               /* how often it was started, this run included */
	struct timeline_moment host;   /* when it was written */
	struct clock_offsets inside;   /* what the clocks inside read then */
	struct clock_offsets reserved; /* what they may have read since, at most; equals inside
	                                  when stopped */
};

/* What the clocks inside read when a run starts now that goes on after `last`. */
struct clock_offsets timeline_resume(const struct timeline_entry *last, enum timeline_mode mode,
				     const struct timeline_moment *now);

/* The next entry of a run whose clocks are `shift` ahead of the host's. */
struct timeline_entry timeline_record(const struct clock_offsets *shift, uint64_t starts,
				      bool running, const struct timeline_moment *now);

/* The whole file as text; returns its length. */
size_t timeline_format(const struct timeline_entry *entry, char text[static TIMELINE_TEXT_SIZE]);

/* Returns 0, or -EINVAL with the exact reason in *e: another kind of file, a newer format, a wrong
 * checksum, a line that cannot be. */
int timeline_parse(const char *text, size_t length, struct timeline_entry *ret_entry,
		   struct err *e);
