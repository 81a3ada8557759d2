/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lab/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "lab/time_filter.h"

/* Room for a message that carries one fd; unix(7). */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* Sends an errno, and an fd with it when there is none to complain of. */
static void send_fd(int socket, int code, int fd)
{
	union control control = { 0 };
	struct iovec data = { .iov_base = &code, .iov_len = sizeof code };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (code == 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	(void)sendmsg(socket, &message, 0); /* the other side then finds the end of file */
}

/* Returns the fd, or -1 with *p filled. */
static int receive_fd(int socket, struct problem *p)
{
	union control control = { 0 };
	int code = 0, fd;
	struct iovec data = { .iov_base = &code, .iov_len = sizeof code };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof control };
	struct cmsghdr *c;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof code)
		return problem_set(p, 0, NULL, "vdso-used: the command was not started");
	c = CMSG_FIRSTHDR(&message);
	if (code || !c)
		return problem_set(p, code, "a filter around us may forbid it, or listen already",
				   "vdso-used: cannot load a seccomp filter");
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* Runs in the child. */
static void become(char **argv, int socket)
{
	struct problem p = { 0 };
	int listener = -1;

	(void)time_filter_listen(&listener, &p);
	send_fd(socket, p.code, listener);
	if (listener < 0)
		_exit(1);
	(void)close(listener);
	(void)close(socket);
	execvp(argv[0], argv);
	fprintf(stderr, "timens-bench: vdso-used: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void count(struct watched *w, const struct seccomp_data *call)
{
	int has_clock = 0, clock;
	const char *name = time_filter_name(call->nr, &has_clock);

	clock = has_clock ? (int)call->args[0] : 0;
	for (int i = 0; i < w->count; i++) {
		struct tally *t = &w->tallies[i];

		if (t->function == name && t->clock == clock) {
			t->calls++;
			return;
		}
	}
	if (name && w->count < TALLIES_MAX)
		w->tallies[w->count++] = (struct tally){ name, has_clock, clock, 1 };
}

static void answer_one(int listener, struct watched *w)
{
	struct seccomp_notif told = { 0 };
	struct seccomp_notif_resp answer = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &told) < 0)
		return; /* the caller was killed in between */
	count(w, &told.data);
	answer.id = told.id;
	answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* fails if it is dead by now */
}

/* Until the command and all others that have its filter are gone.  Before Linux 6.11 the command counts as one
 * until it has been waited for. */
static int answer_all(int listener, pid_t child, struct watched *w, struct problem *p)
{
	autoclose int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd waits[2] = { { .fd = listener, .events = POLLIN },
				   { .fd = pidfd, .events = POLLIN } };

	if (pidfd < 0)
		return problem_set(p, errno, NULL, "vdso-used: pidfd_open");
	while (waits[0].fd >= 0 || waits[1].fd >= 0) {
		if (poll(waits, 2, -1) < 0 && errno != EINTR)
			return problem_set(p, errno, NULL, "vdso-used: poll");
		if (waits[0].revents & POLLIN)
			answer_one(listener, w);
		else if (waits[0].revents & POLLHUP)
			waits[0].fd = -1;
		if (waits[1].revents & POLLIN) {
			(void)waitpid(child, &w->status, 0);
			waits[1].fd = -1;
		}
		waits[0].revents = waits[1].revents = 0;
	}
	return 0;
}

/* Returns the child, and fills *ret_listener; or -1 with *p filled and no child. */
static pid_t start(char **argv, int *ret_listener, struct problem *p)
{
	autoclose int ours = -1;
	int sockets[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return problem_set(p, errno, NULL, "vdso-used: cannot create a socket");
	ours = sockets[0];
	child = fork();
	if (child == 0)
		become(argv, sockets[1]);
	(void)close(sockets[1]);
	if (child < 0)
		return problem_set(p, errno, NULL, "vdso-used: cannot start a process");
	*ret_listener = receive_fd(ours, p);
	if (*ret_listener < 0) {
		(void)waitpid(child, NULL, 0);
		return -1;
	}
	return child;
}

int watch_command(char **argv, struct watched *w, struct problem *p)
{
	autoclose int listener = -1;
	pid_t child = start(argv, &listener, p);

	*w = (struct watched){ 0 };
	if (child < 0)
		return -1;
	if (answer_all(listener, child, w, p) < 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		return -1;
	}
	return 0;
}
