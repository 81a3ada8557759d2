/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/journal.h"
#include "engine/plan.h"
#include "model/container_spec.h"

/* What outlives a function is undone here and nowhere else, in the reverse order of the table. */
static void undo(struct container *c)
{
	struct err e = { 0 };

	if (c->pid > 0 && !c->ended) {
		(void)kill(c->pid, SIGKILL); /* it may have ended by itself */
		while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
			;
	}
	pasta_end(&c->pasta);
	console_end(&c->console);
	if (c->wrote_pid_file)
		(void)unlink(c->spec->pid_file); /* somebody may have been faster */
	if (cgroup_remove(&c->cgroup, &e) < 0)
		log_warning("%s: %s", e.text, strerror(e.code));
	(void)sigprocmask(SIG_SETMASK, &c->caller_mask, NULL); /* cannot fail */
}

int container_run(const struct container_spec *spec, int *ret_status, struct err *e)
{
	struct container c = {
		.spec = spec,
		.by_root = geteuid() == 0,
		.channel = -1,
		.child_channel = -1,
		.root = -1,
		.network = -1,
		.terminal = -1,
		.console.master = -1,
		.name_lock = -1,
	};
	int r;

	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		c.join[k] = -1;
	(void)sigprocmask(SIG_SETMASK, NULL, &c.caller_mask); /* cannot fail */
	r = plan_run(&host_plan, &c, e);
	undo(&c);
	if (spec->timeline != NULL)
		journal_end(spec->timeline);
	*ret_status = c.status;
	return r;
}
