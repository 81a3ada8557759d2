/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/init.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/timerfd.h>
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

/* Waits for a signal as long as the lease lasts; the host winds it up again and again. */
static int next_signal(int lease, siginfo_t *ret_info)
{
	struct itimerspec left = { 0 };
	sigset_t all;
	int sig = -1;

	(void)sigfillset(&all); /* cannot fail */
	if (lease < 0)
		return sigwaitinfo(&all, ret_info);
	while (sig < 0) {
		(void)timerfd_gettime(lease, &left); /* cannot fail for our own timer */
		if (left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0)
			_exit(128 + SIGKILL);
		sig = sigtimedwait(&all, ret_info, &left.it_value);
	}
	return sig;
}

_Noreturn void init_wait(pid_t payload, int lease)
{
	for (;;) {
		siginfo_t info;
		int sig = next_signal(lease, &info);

		if (sig == SIGCHLD)
			reap(payload);
		/* What the terminal sends (SI_KERNEL) the payload, in the same group, gets too. */
		else if (sig > 0 && info.si_code != SI_KERNEL)
			(void)kill(payload, sig); /* it may just have ended */
	}
}
