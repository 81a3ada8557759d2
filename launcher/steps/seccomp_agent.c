/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/seccomp_agent.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "model/seccomp_filter.h"

enum { NOT_YET = 0, SENT = 1, PAUSE_NS = 50 * 1000 };

/* What the two processes say to each other: in memory, as that needs no system call. */
struct shared {
	_Atomic int listener; /* NOT_YET, a descriptor, or -1: the filter could not be loaded */
	_Atomic int answer;   /* NOT_YET, SENT, or -errno */
};

static int send_listener(int agent, const char *text, size_t length, int listener)
{
	struct iovec part = { (char *)(uintptr_t)text, length };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} space = { .header = { CMSG_LEN(sizeof listener), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &space,
				 .msg_controllen = sizeof space };

	memcpy(CMSG_DATA(&space.header), &listener, sizeof listener);
	return sendmsg(agent, &packet, MSG_NOSIGNAL) == (ssize_t)length ? SENT : -errno;
}

static _Noreturn void be_sender(struct shared *s, int agent, const char *text, size_t length)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* cannot fail with these values */
	while (s->listener == NOT_YET)
		(void)nanosleep(&pause, NULL); /* cut short, the next look comes earlier */
	if (s->listener > 0)
		s->answer = send_listener(agent, text, length, s->listener);
	_exit(0);
}

static int read_text(int state, char **ret_text, size_t *ret_length, struct err *e)
{
	struct stat s;
	char *text;

	if (fstat(state, &s) < 0)
		return err_set(e, errno, "cannot read the state for the agent");
	text = malloc((size_t)s.st_size + 1);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot read the state for the agent");
	*ret_text = text;
	*ret_length = (size_t)s.st_size;
	if (pread(state, text, *ret_length, 0) != s.st_size)
		return err_set(e, errno, "cannot read the state for the agent");
	return 0;
}

int seccomp_load_for_agent(const struct seccomp_filter *filter, int agent, int state, struct err *e)
{
	/* The sender must not stay behind as a zombie, and to wait for it is a system call. */
	const struct sigaction nobody_waits = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };
	struct clone_args args = { .flags = CLONE_FILES, .exit_signal = SIGCHLD };
	struct shared *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	autofree char *text = NULL;
	size_t length = 0;
	long sender, listener;
	int r = read_text(state, &text, &length, e);

	if (r < 0)
		return r;
	if (s == MAP_FAILED || sigaction(SIGCHLD, &nobody_waits, NULL) < 0)
		return err_set(e, errno, "cannot prepare for the agent");
	sender = syscall(SYS_clone3, &args, sizeof args);
	if (sender == 0)
		be_sender(s, agent, text, length);
	if (sender < 0)
		return err_set(e, errno, "cannot create the process that calls the agent");
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			   filter->flags | SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter->program);
	s->listener = listener > 0 ? (int)listener : -1;
	if (listener < 0)
		return err_set(e, errno, "cannot load the filter of %u instructions",
			       filter->program.len);
	while (s->answer == NOT_YET)
		continue; /* some microseconds; the agent's call is one sendmsg(2) */
	if (s->answer != SENT)
		return err_set(e, -s->answer, "cannot send the listener to the agent");
	return 0;
}
