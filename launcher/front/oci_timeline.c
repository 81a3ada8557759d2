/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/oci_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/journal.h"
#include "front/oci_commands.h"
#include "front/state.h"

enum { TRIES = 100, PAUSE_NS = 10 * 1000 * 1000 };

/* Timelines outlive the host's boots: not beneath the root of the state, which is in memory. */
static int default_folder(char **ret, struct err *e)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (!state_is_rootless())
		n = asprintf(ret, "/var/lib/timens-oci/timelines");
	else if (data != NULL && data[0] == '/')
		n = asprintf(ret, "%s/timens-oci/timelines", data);
	else if (home != NULL && home[0] == '/')
		n = asprintf(ret, "%s/.local/share/timens-oci/timelines", home);
	else
		return err_set(e, ENOENT,
			       "neither XDG_DATA_HOME nor HOME says where timelines are");
	return n < 0 ? err_set(e, ENOMEM, "cannot keep the path of the timelines") : 0;
}

static int open_journal(const struct oci_call *call, struct oci_config *c, struct err *e)
{
	static struct journal journal; /* lives as long as we do, and its path with it */
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	autofree char *folder = NULL;
	char *path;
	int r = 0;

	if (call->clocks.timelines == NULL)
		r = default_folder(&folder, e);
	if (r == 0)
		r = state_make_folders(folder != NULL ? folder : call->clocks.timelines, e);
	if (r < 0)
		return r;
	if (asprintf(&path, "%s/%s", folder != NULL ? folder : call->clocks.timelines,
		     c->timeline) < 0)
		return err_set(e, ENOMEM, "cannot keep the path of the timeline");
	/* A container that has just ended may still be writing its last entry. */
	for (int tries = 0; tries < TRIES; tries++) {
		r = journal_open(path, c->timeline_mode, &c->spec.clocks, &journal, e);
		if (r != -EBUSY)
			break;
		(void)nanosleep(&pause, NULL); /* cut short, the next try comes earlier */
	}
	c->spec.timeline = r == 0 ? &journal : NULL;
	return r;
}

int oci_timeline_open(const struct oci_call *call, struct oci_config *c, struct err *e)
{
	int r = c->timeline != NULL ? open_journal(call, c, e) : 0;

	if (r < 0)
		snprintf(e->step, sizeof e->step, "timeline");
	return r;
}
