/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

static _Noreturn void guard_main(pid_t parent, int (*undo)(const void *), const void *arg)
{
	sigset_t term;
	int sig;

	(void)prctl(PR_SET_NAME, "timens-guard", 0, 0, 0); /* for ps(1) only */
	(void)setsid();               /* cannot fail in a new process; away from kill(-pgid) */
	(void)!chdir("/");            /* or we could keep a file system busy */
	(void)close_range(0, ~0U, 0); /* or a reader of our output would wait for us too */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	/* It fails for a signal that does not exist, and sends nothing for a parent that died before. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() == parent)
		while (sigwait(&term, &sig) != 0)
			;
	_exit(-undo(arg));
}

int guard_start(int (*undo)(const void *arg), const void *arg, pid_t *ret_pid, struct err *e)
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before); /* so that no SIGTERM reaches it too early */
	pid = fork();
	if (pid == 0)
		guard_main(parent, undo, arg);
	if (pid < 0)
		(void)err_set(e, errno, "cannot start the process that cleans up");
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return -e->code;
	*ret_pid = pid;
	return 0;
}

int guard_end(pid_t guard)
{
	int status = 0;

	(void)kill(guard, SIGTERM); /* fails only if it is dead, which is seen below */
	while (waitpid(guard, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EOWNERDEAD;
}
