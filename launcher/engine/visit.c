/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/visit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/err.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* What the child leaves behind: its failure, or code 0 and the result behind it. */
struct report {
	struct err failure;
	_Alignas(max_align_t) unsigned char result[];
};

static int refuse(struct err *e)
{
	if (e->code == EACCES || e->code == EPERM)
		return err_hint(e, "only root and who started the container may look inside");
	return -e->code;
}

/* *ret_fd is -1 if we are in that namespace already: setns(2) refuses to enter it again. */
static int open_namespace(pid_t pid, const char *kind, int *ret_fd, struct err *e)
{
	char theirs[64], ours[64];
	struct stat their_ns, our_ns;
	autoclose int fd = -1;

	*ret_fd = -1;
	(void)snprintf(theirs, sizeof theirs, "/proc/%d/ns/%s", pid, kind);
	(void)snprintf(ours, sizeof ours, "/proc/self/ns/%s", kind);
	if (stat(ours, &our_ns) < 0)
		return err_set(e, errno, "cannot look at %s", ours);
	fd = open(theirs, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ESRCH, "there is no process %d", pid);
	if (fd < 0 || fstat(fd, &their_ns) < 0) {
		(void)err_set(e, errno, "cannot open %s", theirs);
		return refuse(e);
	}
	if (our_ns.st_ino != their_ns.st_ino)
		*ret_fd = take_fd(&fd);
	return 0;
}

/* Both are opened first: inside their user namespace we may no longer look at the process. */
static int enter(pid_t pid, struct err *e)
{
	autoclose int user = -1, time = -1;
	int r = open_namespace(pid, "user", &user, e);

	if (r == 0)
		r = open_namespace(pid, "time", &time, e);
	if (r < 0)
		return r;
	if ((user >= 0 && setns(user, CLONE_NEWUSER) < 0) ||
	    (time >= 0 && setns(time, CLONE_NEWTIME) < 0)) {
		(void)err_set(e, errno, "cannot enter the namespaces of process %d", pid);
		return refuse(e);
	}
	return 0;
}

static void be_the_visitor(pid_t pid, void (*work)(void *result), unsigned patience_s,
			   struct report *report)
{
	sigset_t alarm_only;
	int r = 0;

	/* Whoever started us may have blocked it, and it is what ends a visit that hangs. */
	(void)signal(SIGALRM, SIG_DFL);
	(void)sigemptyset(&alarm_only);
	(void)sigaddset(&alarm_only, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	(void)alarm(patience_s); /* relative, so no time namespace touches it */
	if (pid != 0)
		r = enter(pid, &report->failure);
	if (r == 0)
		work(report->result);
	_exit(0);
}

int visit(pid_t pid, void (*work)(void *result), void *result, size_t size, unsigned patience_s,
	  bool *ret_timed_out, struct err *e)
{
	size_t whole = sizeof(struct report) + size;
	struct report *report;
	int status = 0;
	pid_t child;

	report = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		return err_set(e, errno, "cannot share memory with a visitor");
	memcpy(report->result, result, size);
	child = fork();
	if (child == 0)
		be_the_visitor(pid, work, patience_s, report);
	if (child < 0)
		(void)err_set(e, errno, "cannot fork a visitor");
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child > 0) {
		*e = report->failure;
		memcpy(result, report->result, size);
		*ret_timed_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
		if (e->code == 0 && WIFSIGNALED(status) && !*ret_timed_out)
			(void)err_set(e, ECHILD, "a visitor was killed by signal %d",
				      WTERMSIG(status));
	}
	(void)munmap(report, whole);
	return -e->code;
}
