/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/pasta.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/helper.h"
#include "base/text.h"

static bool is_pasta(pid_t pid)
{
	char path[40], name[32];
	struct err e;

	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	/* "passt.avx2", after the program that it is another name of */
	return file_read(path, name, sizeof name, &e) == 0 &&
	       (strncmp(name, "pasta", 5) == 0 || strncmp(name, "passt", 5) == 0);
}

/* It puts itself into the background, and so becomes a child of ours. */
static pid_t find_child(void)
{
	char path[64], children[1024], *rest = children, *word;
	struct err e;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	if (file_read(path, children, sizeof children, &e) < 0)
		return 0;
	while ((word = text_next_field(&rest, ' ')) != NULL)
		if (is_pasta(atoi(word)))
			return atoi(word);
	return 0;
}

static int kill_pasta(const void *argument)
{
	pid_t pid = *(const pid_t *)argument;

	if (is_pasta(pid))                /* and not somebody who has its number by now */
		(void)kill(pid, SIGKILL); /* it is PID 1 of its own and ignores less */
	return 0;
}

int pasta_connect(pid_t pid, struct pasta *ret, struct err *e)
{
	char pid_word[12];
	/* --config-net: addresses and routes as the host has them.  Ports are opened by hand.
	 * --runas: as nobody, which it would become by itself, it may not enter root's. */
	const char *argv[] = { "pasta",       "--config-net", "--quiet", "--tcp-ports", "none",
			       "--udp-ports", "none",         pid_word,  "--runas",     "0",
			       NULL };
	int r;

	snprintf(pid_word, sizeof pid_word, "%d", pid);
	if (geteuid() != 0)
		argv[8] = NULL;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot become the parent of orphans");
	r = helper_run(argv, e);
	if (r == -ENOENT)
		return err_hint(e, "install the package passt, or use --net none or --net host");
	if (r < 0)
		return r;
	ret->pid = find_child();
	return ret->pid != 0 ? guard_start(kill_pasta, &ret->pid, &ret->guard, e) : 0;
}

void pasta_end(struct pasta *pasta)
{
	if (pasta->pid == 0)
		return;
	(void)guard_end(pasta->guard); /* killed by somebody: then it is ended here */
	(void)kill_pasta(&pasta->pid);
	while (waitpid(pasta->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pasta->pid = 0;
}
