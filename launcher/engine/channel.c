/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/channel.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"

struct message {
	uint32_t note;
	struct err failure;
};

union fd_space {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int channel_open(int *ret_host, int *ret_child, struct err *e)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(e, errno, "cannot create the channel");
	*ret_host = ends[0];
	*ret_child = ends[1];
	return 0;
}

int channel_send(int fd, enum note note, int carried, struct err *e)
{
	struct message m = { .note = note };
	struct iovec part = { &m, sizeof m };
	union fd_space space = { 0 };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	int code;

	if (carried >= 0) {
		space.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof carried),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&space.header), &carried, sizeof carried);
		packet.msg_control = &space;
		packet.msg_controllen = sizeof space;
	}
	if (sendmsg(fd, &packet, MSG_NOSIGNAL) == sizeof m)
		return 0;
	code = errno;
	if (code == EPIPE && channel_expect(fd, NOTE_FAILED, NULL, e) != -EPIPE)
		return -e->code; /* the other side is gone, and has said why */
	return err_set(e, code, "cannot send note '%c'", note);
}

void channel_send_failure(int fd, const struct err *failure)
{
	struct message m = { .note = NOTE_FAILED, .failure = *failure };

	(void)!send(fd, &m, sizeof m, MSG_NOSIGNAL);
}

static int fd_in(struct msghdr *packet)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(packet);
	int fd = -1;

	if (header != NULL && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

int channel_expect(int fd, enum note wanted, int *ret_carried, struct err *e)
{
	struct message m = { 0 };
	struct iovec part = { &m, sizeof m };
	union fd_space space = { 0 };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (ret_carried != NULL) {
		packet.msg_control = &space;
		packet.msg_controllen = sizeof space;
	}
	/* ECONNRESET: it died before it read our last note.  What it had said comes next. */
	do
		n = recvmsg(fd, &packet, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));

	if (n < 0)
		return err_set(e, errno, "cannot read from the channel");
	if (n == 0 && wanted == NOTE_END_OF_FILE)
		return 0;
	if (n == 0)
		return err_set(e, EPIPE, "the other process ended early");
	if (n != sizeof m)
		return err_set(e, EPROTO, "a note of %zd bytes", n);
	if (m.note == NOTE_FAILED && m.failure.code > 0) {
		m.failure.step[sizeof m.failure.step - 1] = '\0';
		m.failure.text[sizeof m.failure.text - 1] = '\0';
		m.failure.hint[sizeof m.failure.hint - 1] = '\0';
		*e = m.failure;
		return -e->code;
	}
	if (m.note != (uint32_t)wanted)
		return err_set(e, EPROTO, "expected note %d, got %u", wanted, m.note);
	if (ret_carried != NULL)
		*ret_carried = fd_in(&packet);
	return 0;
}
