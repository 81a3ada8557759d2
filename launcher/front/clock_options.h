/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock_options.h - the options that say what the clocks inside shall do */
#pragma once

struct err;
struct request;

/* Rows of front/options.c.  Each clock may be set once: a second option that sets it is refused. */
int note_offset(struct request *q, char *value, struct err *e);
int note_boottime(struct request *q, char *value, struct err *e);
int note_monotonic(struct request *q, char *value, struct err *e);
int note_uptime(struct request *q, char *value, struct err *e);
int note_near_wrap(struct request *q, char *value, struct err *e);
int note_timeline(struct request *q, char *value, struct err *e);
int note_timeline_mode(struct request *q, char *value, struct err *e);

/* Opens the timeline, if there is one, and lets the clocks go on from it. */
int clock_options_finish(struct request *q, struct err *e);
