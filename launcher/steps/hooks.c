/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/hooks.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "model/bundle.h"

enum { MS_PER_S = 1000, STANDARD_STREAMS = 3 };

static _Noreturn void execute(const struct hook *h, int input)
{
	static char *nothing[] = { NULL };
	char *alone[] = { (char *)(uintptr_t)h->path, NULL };
	sigset_t none;

	(void)sigemptyset(&none); /* cannot fail */
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(input, 0) == 0 && close_range(STANDARD_STREAMS, ~0U, 0) == 0)
		execve(h->path, h->args != NULL && h->args[0] != NULL ? h->args : alone,
		       h->env != NULL ? h->env : nothing);
	_exit(127);
}

/* The state in a file of its own: a hook that does not read it cannot stop us. */
static int state_file(const char *state, struct err *e)
{
	size_t length = strlen(state);
	int fd = memfd_create("state", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, state, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	(void)err_set(e, errno, "cannot keep the state for the hooks");
	if (fd >= 0)
		close(fd);
	return -e->code;
}

static int run_one(const struct hook *h, const char *state, struct err *e)
{
	autoclose int input = state_file(state, e);
	autoclose int process = -1;
	struct pollfd ended = { .events = POLLIN };
	int status, n = 1;
	pid_t pid;

	if (input < 0)
		return input;
	pid = fork();
	if (pid == 0)
		execute(h, input);
	if (pid < 0)
		return err_set(e, errno, "cannot start the hook %s", h->path);
	if (h->timeout_s > 0) {
		process = (int)syscall(SYS_pidfd_open, pid, 0);
		ended.fd = process;
		do
			n = poll(&ended, 1, h->timeout_s * MS_PER_S);
		while (n < 0 && errno == EINTR);
		if (n == 0)
			(void)kill(pid, SIGKILL); /* our child: the number is still its own */
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "cannot wait for the hook %s", h->path);
	if (h->timeout_s > 0 && n == 0)
		return err_set(e, ECANCELED, "the hook %s was ended after %d s", h->path,
			       h->timeout_s);
	if (WIFSIGNALED(status))
		return err_set(e, ECANCELED, "the hook %s ended by signal %d", h->path,
			       WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(e, ECANCELED, "the hook %s ended with status %d", h->path,
			       WEXITSTATUS(status));
	return 0;
}

int hooks_run(const struct hook_list *list, const char *state, struct err *e)
{
	for (size_t i = 0; i < list->count; i++) {
		int r = run_one(&list->hooks[i], state, e);

		if (r < 0)
			return r;
	}
	return 0;
}
