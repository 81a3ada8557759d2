/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* journal.h - keeps a timeline's file while its container runs
 *
 *   journal_open   locks and reads the file, says what the clocks start with     before the clone
 *   journal_begin  writes the first entry: time is reserved before anyone inside can read a clock
 *   journal_tick   every 5 s and whenever the host wakes: reserves further ahead
 *   journal_end    writes the last reading, once the container is gone
 *
 * Each entry is a new file, synced and renamed over the old one.  The lease is a timer that ends
 * a little before the reserved time does: each entry winds it up again, and the init inside ends
 * the container when it runs out (engine/init.c).  So nobody inside reads a time that is not on
 * disk, even if this process is stopped or the disk is full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/clock_target.h"
#include "model/timeline.h"

struct err;

struct journal {
	const char *path;
	int folder;          /* of the file, for rename and sync */
	const char *name;    /* of the file in it */
	char next_name[272]; /* of the next entry, until it is renamed */
	int file;            /* the current entry, which we hold locked; -1: a new timeline */
	int lease;           /* timerfd, read by the init inside */
	int alarm;           /* timerfd, readable when an entry is due */
	bool begun;          /* the first entry of this run is on disk */
	bool ran;            /* set by who saw that exec worked */
	uint64_t starts;     /* this run included */
	struct clock_offsets shift; /* of the clocks inside against ours */
};

/* Opens and locks the timeline.  *targets says where a new one starts; from an existing one, it is
 * replaced by where that goes on.
 *
 * Returns 0, or a negative errno with *e (and a hint) filled; nothing has been changed then:
 *   -EBUSY   another run uses it
 *   -EINVAL  damaged or foreign, with the exact reason */
int journal_open(const char *path, enum timeline_mode mode, struct clock_targets *targets,
		 struct journal *ret_journal, struct err *e);

int journal_begin(struct journal *j, struct err *e);

/* Call it when j->alarm is readable.  A failure is a warning and tried again in a second. */
void journal_tick(struct journal *j);

/* The container has ended.  A timeline that was to begin with a command that could not be executed
 * has not begun.  A failure is a warning: the next start then goes on from what
 * was reserved. */
void journal_end(struct journal *j);

/* Reads and checks a file without locking it, for who only looks; *ret_in_use: somebody has it
 * locked. */
int journal_read(const char *path, struct timeline_entry *ret_entry, bool *ret_in_use,
		 struct err *e);
