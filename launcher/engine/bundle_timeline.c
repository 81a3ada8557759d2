/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_timeline.c - who keeps the timeline of a container that nobody of us stays with
 *
 * Two processes are left beside the container.  The keeper writes the entries, and the last one when
 * the container has ended.  The guard only waits for the lease: when it runs out, because the keeper
 * was ended or stopped or its disk is full, the guard ends the container, since nobody could say later
 * what its clocks read.  If the guard goes, the keeper makes another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "engine/bundle.h"
#include "engine/journal.h"
#include "model/container_spec.h"

/* Away from the caller's streams, which somebody may read to their end, and from its signals. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t all;

	(void)sigfillset(&all); /* as all of these, it cannot fail in a new process */
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)!chdir("/");
	for (int stream = 0; stream < 3; stream++)
		(void)dup2(null, stream);
	if (null > 2)
		close(null);
}

static bool ready(const struct pollfd *p)
{
	return p->revents != 0;
}

static _Noreturn void be_guard(int container, int lease)
{
	struct pollfd waits[] = { { .fd = container, .events = POLLIN },
				  { .fd = lease, .events = POLLIN } };

	(void)prctl(PR_SET_NAME, "timens-guard", 0, 0, 0); /* for ps(1) only */
	while (poll(waits, 2, -1) < 0 && errno == EINTR)
		;
	if (!ready(&waits[0]))
		(void)syscall(SYS_pidfd_send_signal, container, SIGKILL, NULL, 0);
	_exit(0);
}

/* A descriptor of the new guard, or -1: the next tick tries again. */
static int start_guard(int container, int lease, pid_t *ret_pid)
{
	*ret_pid = fork();
	if (*ret_pid == 0)
		be_guard(container, lease);
	return *ret_pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, *ret_pid, 0);
}

static _Noreturn void be_keeper(struct journal *j, int container)
{
	pid_t guard_pid = -1;
	struct pollfd waits[] = {
		{ .fd = container, .events = POLLIN },
		{ .fd = j->alarm, .events = POLLIN },
		{ .fd = start_guard(container, j->lease, &guard_pid), .events = POLLIN },
	};

	(void)prctl(PR_SET_NAME, "timens-keeper", 0, 0, 0); /* for ps(1) only */
	for (;;) {
		if (poll(waits, 3, -1) < 0)
			continue; /* EINTR */
		if (ready(&waits[0]))
			break;
		if (ready(&waits[1]))
			journal_tick(j);
		if (ready(&waits[2]) || waits[2].fd < 0) {
			if (guard_pid > 0)
				(void)waitpid(guard_pid, NULL, 0); /* it has ended */
			if (waits[2].fd >= 0)
				close(waits[2].fd);
			waits[2].fd = start_guard(container, j->lease, &guard_pid);
		}
	}
	journal_end(j);
	_exit(0);
}

int bundle_keep_timeline(struct container *c, struct err *e)
{
	struct journal *j = c->spec->timeline;
	autoclose int container = (int)syscall(SYS_pidfd_open, c->pid, 0);
	pid_t keeper;
	int r;

	if (container < 0)
		return err_set(e, errno, "cannot watch the container");
	r = journal_begin(j, e);
	if (r < 0)
		return r;
	keeper = fork();
	if (keeper < 0)
		return err_set(e, errno, "cannot start the process that keeps the timeline");
	if (keeper == 0) {
		/* Whoever waits for the end of a pipe or for our lock must not wait for the keeper. */
		file_close_others(3, (int[]){ container, j->folder, j->file, j->lease, j->alarm },
				  5);
		j->ran = true;
		detach();
		be_keeper(j, container);
	}
	return 0;
}
