/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/helper.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

int helper_run(const char *const *argv, struct err *e)
{
	volatile int failure = 0; /* the child of vfork(2) writes into our memory */
	int status;
	pid_t child = vfork();

	if (child < 0)
		return err_set(e, errno, "cannot start %s", argv[0]);
	if (child == 0) {
		sigset_t none;

		(void)sigemptyset(&none); /* neither can fail */
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], (char *const *)argv);
		failure = errno;
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "cannot wait for %s", argv[0]);
	if (failure != 0)
		return err_set(e, failure, "cannot run %s", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(e, EPERM, "%s refused (it says why above)", argv[0]);
	return 0;
}
