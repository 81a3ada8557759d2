/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_socket.c - how a later process finds the container that waits to be started
 *
 * The container listens on a socket in its state folder until its program runs: it is close-on-
 * exec, so that "still listening" is what "created" means.  No file could say that as surely.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/bundle.h"
#include "engine/channel.h"

enum { BACKLOG = 64 };

/* By the open folder: sun_path is short, and state folders can be deep. */
static struct sockaddr_un address_in(int folder)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/start", folder);
	return a;
}

int bundle_listen(int folder, int *ret_listener, struct err *e)
{
	autoclose int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = address_in(folder);

	if (s < 0)
		return err_set(e, errno, "cannot open a socket");
	if (bind(s, (struct sockaddr *)&a, sizeof a) < 0 ||
	    fchmodat(folder, "start", 0600, 0) < 0 || listen(s, BACKLOG) < 0)
		return err_set(e, errno, "cannot listen in the state folder");
	*ret_listener = take_fd(&s);
	return 0;
}

int bundle_connect(int folder)
{
	autoclose int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = address_in(folder);

	if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof a) < 0)
		return -errno;
	return take_fd(&s);
}

int bundle_connect_to(const char *path, const char *what, int *ret, struct err *e)
{
	autoclose int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, ENAMETOOLONG, "the path of the %s %s", what, path);
	strcpy(a.sun_path, path);
	if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof a) < 0)
		return err_set(e, errno, "cannot connect to the %s %s", what, path);
	*ret = take_fd(&s);
	return 0;
}

int bundle_accept_start(struct container *c, struct err *e)
{
	for (;;) {
		int s = accept4(c->bundle->listener, NULL, NULL, SOCK_CLOEXEC);
		struct err ignored; /* somebody only looked whether we are here */

		if (s < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (s < 0)
			return err_set(e, errno, "cannot wait for the start");
		if (channel_expect(s, NOTE_START, &c->bundle->agent, &ignored) < 0) {
			close(s);
			continue;
		}
		close(c->channel);
		c->channel = s; /* from here on the starter is told what fails */
		return 0;
	}
}

int bundle_start(int folder, const char *agent, struct err *e)
{
	autoclose int s = bundle_connect(folder), connection = -1;

	if (s == -ECONNREFUSED || s == -ENOENT)
		return err_set(e, EALREADY, "the container is not in the state created");
	if (s < 0)
		return err_set(e, -s, "cannot reach the container");
	if (agent != NULL && bundle_connect_to(agent, "seccomp agent", &connection, e) < 0)
		return -e->code;
	if (channel_send(s, NOTE_START, connection, e) < 0)
		return -e->code;
	return channel_expect(s, NOTE_END_OF_FILE, NULL, e);
}

/* One byte with the terminal's descriptor: what conmon and containerd's shim wait for. */
int bundle_send_terminal(int console, int terminal, struct err *e)
{
	static char name[] = "/dev/ptmx";
	struct iovec part = { name, sizeof name };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} space = { .header = { CMSG_LEN(sizeof terminal), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &space,
				 .msg_controllen = sizeof space };

	memcpy(CMSG_DATA(&space.header), &terminal, sizeof terminal);
	if (sendmsg(console, &packet, MSG_NOSIGNAL) < 0)
		return err_set(e, errno, "cannot send the terminal over the console socket");
	return 0;
}
