/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/channel.h"
#include "engine/plan.h"
#include "steps/namespaces.h"
#include "steps/privileges.h"

static _Noreturn void make(const struct container *c, struct err *e)
{
	int r = privileges_die_with_parent(e);

	if (r == 0)
		r = namespaces_new_network(c->network, e);
	if (r < 0) {
		snprintf(e->step, sizeof e->step, "%s", c->at->name);
		channel_send_failure(c->channel, e);
	}
	_exit(r < 0);
}

int network_begin(struct container *c, struct err *e)
{
	/* A number that the other process can fill: the table is common, memory is not. */
	c->network = fcntl(c->channel, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (c->network < 0)
		return err_set(e, errno, "cannot reserve a file descriptor");
	/* No signal at its end: it would wait for the payload. */
	c->network_maker = (pid_t)syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);
	if (c->network_maker < 0) /* --pids 1, ulimit -u: no room beside us, then without help */
		return namespaces_new_network(c->network, e);
	if (c->network_maker == 0)
		make(c, e);
	return 0;
}

int network_enter(struct container *c, struct err *e)
{
	autoclose int network = take_fd(&c->network);
	int status = 0;

	while (c->network_maker > 0 && waitpid(c->network_maker, &status, __WALL) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "cannot wait for the process that makes it");
	if (status != 0)
		return err_set(e, EPIPE, "the process that makes it ended early");
	return namespaces_join(NS_NET, network, e);
}
