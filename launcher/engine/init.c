/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/init.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t init_spawn(int (*run)(void *), void *arg)
{
	/* A stack of its own: the child returns from functions that we are still in. */
	static char stack[128 * 1024] __attribute__((aligned(16)));

	return clone(run, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
}

/* Reaps all that have ended; ends with the payload. */
static void reap(pid_t payload)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == payload)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

_Noreturn void init_wait(pid_t payload)
{
	sigset_t all;

	(void)sigfillset(&all); /* cannot fail */
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(&all, &info);

		if (sig == SIGCHLD)
			reap(payload);
		/* What the terminal sends (SI_KERNEL) the payload, in the same group, gets too. */
		else if (sig > 0 && info.si_code != SI_KERNEL)
			(void)kill(payload, sig); /* it may just have ended */
	}
}
