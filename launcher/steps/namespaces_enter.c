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
	struct clone_args args = {
		.flags = (flags & ~(uint32_t)(CLONE_NEWTIME | CLONE_NEWCGROUP)) | CLONE_PARENT,
	};
	long pid = syscall(SYS_clone3, &args, sizeof args);

	if (pid < 0)
		return err_set(e, errno, "cannot create the container process");
	return (pid_t)pid;
}

pid_t namespaces_enter(const int fds[static NS_COUNT], uint32_t new_namespaces, struct err *e)
{
	struct answer a = { 0 };
	int ends[2], status;
	ssize_t n;
	pid_t helper;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot create a pipe");
	helper = fork();
	if (helper == 0) {
		a.pid = enter_all(fds, e) == 0 ? clone_sibling(new_namespaces, e) : -1;
		if (a.pid == 0) { /* we are the container process now */
			close(ends[0]);
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
	do
		n = read(ends[0], &a, sizeof a);
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	while (waitpid(helper, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof a)
		return err_set(e, EPIPE, "the process that enters namespaces ended early");
	if (a.pid < 0)
		*e = a.failure;
	return a.pid < 0 ? -e->code : a.pid;
}
