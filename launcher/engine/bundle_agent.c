/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_agent.c - the filter of a bundle, and the agent that answers what it leaves open
 *
 * A filter that is loaded by create or exec has its agent connected to before the clone; one that is
 * loaded by start, by start (engine/bundle_socket.c), so that no agent has to wait for that.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/bundle.h"
#include "engine/bundle_wants.h"
#include "engine/channel.h"
#include "model/bundle.h"
#include "model/container_spec.h"
#include "steps/seccomp.h"
#include "steps/seccomp_agent.h"

int bundle_connect_agent(struct container *c, struct err *e)
{
	return bundle_connect_to(c->spec->bundle->agent_path, "seccomp agent", &c->bundle->agent,
				 e);
}

/* What the agent is told, in a file: only we know the number that the child has outside. */
static int introduce(struct container *c, int *ret_file, struct err *e)
{
	const struct bundle_keeper *k = c->bundle->keeper;
	autofree char *text = k->introduce(k->arg, c->pid, c->spec->bundle->agent_metadata);
	autoclose int file = memfd_create("agent", MFD_CLOEXEC);

	if (text == NULL)
		return err_set(e, ENOMEM, "cannot describe the state for the seccomp agent");
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		return err_set(e, errno, "cannot keep the state for the seccomp agent");
	*ret_file = take_fd(&file);
	return 0;
}

int bundle_send_mapped(struct container *c, struct err *e)
{
	autoclose int state = -1;
	int r = bundle_wants_agent(c->spec) ? introduce(c, &state, e) : 0;

	return r < 0 ? r : channel_send(c->channel, NOTE_MAPPED, state, e);
}

int bundle_wait_for_maps(struct container *c, struct err *e)
{
	return channel_expect(c->channel, NOTE_MAPPED, &c->bundle->agent_state, e);
}

int bundle_load_filter(struct container *c, struct err *e)
{
	const struct bundle_run *b = c->bundle;

	return bundle_wants_agent(c->spec)
		       ? seccomp_load_for_agent(c->spec->filter, b->agent, b->agent_state, e)
		       : seccomp_load_filter(c->spec->filter, e);
}
