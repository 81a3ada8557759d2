/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/clock_options.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/journal.h"
#include "front/request.h"
#include "model/near_wrap.h"

static int set_clock(struct clock_target *clock, const char **set_by, struct clock_target wanted,
		     const char *option, struct err *e)
{
	if (*set_by != NULL)
		return err_set(e, EINVAL, "--%s has set this clock already", *set_by);
	*set_by = option;
	*clock = wanted;
	return 0;
}

static int set_monotonic(struct request *q, struct clock_target wanted, const char *option,
			 struct err *e)
{
	return set_clock(&q->spec.clocks.monotonic, &q->monotonic_set_by, wanted, option, e);
}

static int set_boottime(struct request *q, struct clock_target wanted, const char *option,
			struct err *e)
{
	return set_clock(&q->spec.clocks.boottime, &q->boottime_set_by, wanted, option, e);
}

static int set_both(struct request *q, struct clock_target wanted, const char *option,
		    struct err *e)
{
	int r = set_monotonic(q, wanted, option, e);

	return r < 0 ? r : set_boottime(q, wanted, option, e);
}

int note_offset(struct request *q, char *value, struct err *e)
{
	struct clock_target wanted = { .aim = CLOCK_SHIFTED };
	int r = clock_offset_parse(value, &wanted.value, e);

	return r < 0 ? r : set_both(q, wanted, "offset", e);
}

int note_boottime(struct request *q, char *value, struct err *e)
{
	struct clock_target wanted = { .aim = CLOCK_SHIFTED };
	int r = clock_offset_parse(value, &wanted.value, e);

	return r < 0 ? r : set_boottime(q, wanted, "boottime", e);
}

int note_monotonic(struct request *q, char *value, struct err *e)
{
	struct clock_target wanted = { .aim = CLOCK_SHIFTED };
	int r = clock_offset_parse(value, &wanted.value, e);

	return r < 0 ? r : set_monotonic(q, wanted, "monotonic", e);
}

int note_uptime(struct request *q, char *value, struct err *e)
{
	struct clock_target wanted = { .aim = CLOCK_READS };
	char text[CLOCK_OFFSET_TEXT];
	uint64_t bits = 0;
	int r;

	if (strcmp(value, "random") == 0 && getrandom(&bits, sizeof bits, 0) != sizeof bits)
		return err_set(e, errno, "cannot get a random number");
	r = uptime_parse(value, bits, &wanted.value, e);
	if (r < 0)
		return r;
	if (strcmp(value, "random") == 0) /* a failure that cannot be repeated is worth little */
		log_note("--uptime random is --uptime %s this time",
			 clock_offset_format(wanted.value, text) + 1);
	return set_both(q, wanted, "uptime", e);
}

static int print_wraps(void)
{
	size_t count;
	const struct near_wrap *wraps = near_wraps(&count);

	puts("--near-wrap NAME[-D] starts the clocks D (30 s) before one of these readings:");
	for (const struct near_wrap *w = wraps; w < wraps + count; w++) {
		char after[CLOCK_OFFSET_TEXT];

		printf("  %-6s %-26s %s\n  %6s %s\n", w->name,
		       clock_offset_human(near_wrap_at(w), after), w->type, "", w->seen_in);
	}
	return 0;
}

int note_near_wrap(struct request *q, char *value, struct err *e)
{
	struct clock_target wanted = { .aim = CLOCK_READS };
	int r;

	if (strcmp(value, "list") == 0) {
		q->answer = print_wraps;
		return 0;
	}
	r = near_wrap_parse(value, &wanted.value, e);
	return r < 0 ? r : set_both(q, wanted, "near-wrap", e);
}

int note_timeline(struct request *q, char *value, struct err *e)
{
	if (q->timeline != NULL)
		return err_set(e, EINVAL, "a container has one timeline");
	q->timeline = value;
	return 0;
}

int note_timeline_mode(struct request *q, char *value, struct err *e)
{
	if (strcmp(value, "wall") != 0 && strcmp(value, "pause") != 0)
		return err_set(e, EINVAL, "'%.60s' is neither pause nor wall", value);
	q->timeline_mode = strcmp(value, "wall") == 0 ? TIMELINE_WALL : TIMELINE_PAUSE;
	q->timeline_mode_given = true;
	return 0;
}

static int open_timeline(struct request *q, struct err *e)
{
	static struct journal journal; /* lives as long as the container */

	if (q->timeline == NULL && q->timeline_mode_given)
		return err_set(e, EINVAL, "--timeline-mode without --timeline FILE");
	if (q->timeline == NULL)
		return 0;
	/* Else processes could outlive the launcher, and read clocks that nobody records. */
	if (!creates(&q->spec, CLONE_NEWTIME) || !creates(&q->spec, CLONE_NEWPID) || !q->spec.init)
		return err_set(e, EINVAL, "it needs new time and pid namespaces, and the init");
	q->spec.timeline = &journal;
	if (q->explain)
		return 0;
	return journal_open(q->timeline, q->timeline_mode, &q->spec.clocks, &journal, e);
}

int clock_options_finish(struct request *q, struct err *e)
{
	int r = open_timeline(q, e);

	if (r < 0)
		(void)snprintf(e->step, sizeof e->step, "timeline");
	return r;
}
