/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/namespaces_enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

struct answer {
	pid_t pid;
	struct err failure;
};

static int enter(enum namespace_kind kind, int fd, struct err *e)
{
	if (setns(fd, (int)namespaces[kind].flag) == 0)
		return 0;
	return err_set(e, errno, "cannot enter the %s namespace", namespaces[kind].name);
}

static int enter_all(const int fds[static NS_COUNT], struct err *e)
{
	/* The mount namespace last: it changes what every path means. */
	static const enum namespace_kind order[] = { NS_CGROUP, NS_IPC, NS_NET, NS_PID,
						     NS_TIME,   NS_UTS, NS_MNT };
	enum { KINDS = sizeof order / sizeof *order };
	bool entered[NS_COUNT] = { false };
	int r = 0;

	for (int i = 0; i < KINDS; i++) {
		if (fds[order[i]] < 0)
			continue;
		r = enter(order[i], fds[order[i]], e);
		entered[order[i]] = r == 0;
		if (r < 0 && (r != -EPERM || fds[NS_USER] < 0))
			return r;
	}
	if (fds[NS_USER] < 0)
		return 0;
	r = enter(NS_USER, fds[NS_USER], e);
	for (int i = 0; r == 0 && i < KINDS; i++)
		if (fds[order[i]] >= 0 && !entered[order[i]])
			r = enter(order[i], fds[order[i]], e);
	return r;
}

/* The child becomes a child of our parent, which has to wait for it. */
static pid_t clone_sibling(uint32_t flags, struct err *e)
{
	struct clone_args args = { .flags = flags | CLONE_PARENT };
	long pid = syscall(SYS_clone3, &args, sizeof args);

	if (pid < 0)
		return err_set(e, errno, "cannot create the container process");
	return (pid_t)pid;
}

/* Reads what the helper and, if it creates its namespaces by itself, the child have to say. */
static pid_t read_answers(int from, int count, struct err *e)
{
	pid_t pid = -1;
	int r = 0;

	for (int i = 0; i < count && r == 0; i++) {
		struct answer a;
		ssize_t n;

		do
			n = read(from, &a, sizeof a);
		while (n < 0 && errno == EINTR);
		if (n != sizeof a)
			r = err_set(e, EPIPE, "the process that enters namespaces ended early");
		else if (a.pid < 0) {
			*e = a.failure;
			r = -e->code;
		} else if (a.pid > 0) {
			pid = a.pid;
		}
	}
	if (r < 0 && pid > 0) { /* our child, which has failed and ends */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return r < 0 ? r : pid;
}

/* We are the container process.  The kernel clones no user namespace for who clones into a joined pid
 * namespace: it has to be unshared in there, with all that it shall own. */
static void create_late(int to, uint32_t flags)
{
	struct answer a = { 0 };

	if (unshare((int)flags) == 0 && write(to, &a, sizeof a) == sizeof a)
		return;
	(void)err_set(&a.failure, errno, "cannot create namespaces beside the joined one");
	a.pid = -1;
	(void)!write(to, &a, sizeof a); /* else it is missed, which is an error as well */
	_exit(1);
}

pid_t namespaces_enter(const int fds[static NS_COUNT], uint32_t new_namespaces, struct err *e)
{
	uint32_t flags = new_namespaces & ~(uint32_t)(CLONE_NEWTIME | CLONE_NEWCGROUP);
	bool late = fds[NS_PID] >= 0 && (flags & CLONE_NEWUSER) != 0;
	struct answer a = { 0 };
	int ends[2];
	pid_t helper, pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot create a pipe");
	helper = fork();
	if (helper == 0) {
		a.pid = enter_all(fds, e) == 0 ? clone_sibling(late ? 0 : flags, e) : -1;
		if (a.pid == 0) { /* we are the container process now */
			close(ends[0]);
			if (late)
				create_late(ends[1], flags);
			close(ends[1]);
			return 0;
		}
		a.failure = *e;
		_exit(write(ends[1], &a, sizeof a) != sizeof a);
	}
	close(ends[1]);
	if (helper < 0) {
		close(ends[0]);
		return err_set(e, errno, "cannot create a process");
	}
	pid = read_answers(ends[0], late ? 2 : 1, e);
	close(ends[0]);
	while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		;
	return pid;
}
