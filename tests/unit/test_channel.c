/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the channel promises: no hang, no lost error.  Needs no privileges. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/channel.h"

static void open_pair(int *host, int *child)
{
	struct err e;

	assert(channel_open(host, child, &e) == 0);
}

static void a_failure_arrives_unchanged(void)
{
	struct err sent, received = { 0 };
	int host, child;

	open_pair(&host, &child);
	(void)err_set(&sent, ERANGE, "cannot write %s", "/proc/self/timens_offsets");
	(void)err_hint(&sent, "try less");
	channel_send_failure(child, &sent);

	assert(channel_expect(host, NOTE_READY, NULL, &received) == -ERANGE);
	assert(strcmp(received.text, "cannot write /proc/self/timens_offsets") == 0);
	assert(strcmp(received.hint, "try less") == 0);
	close(host);
	close(child);
}

static void a_dead_peer_is_an_error_and_not_a_hang(void)
{
	struct err e = { 0 };
	int host, child;

	open_pair(&host, &child);
	close(child);

	assert(channel_expect(host, NOTE_READY, NULL, &e) == -EPIPE);
	assert(channel_expect(host, NOTE_END_OF_FILE, NULL, &e) == 0);
	assert(channel_send(host, NOTE_MAPPED, -1, &e) == -EPIPE);
	assert(strcmp(e.text, "cannot send note 'M'") == 0);
	close(host);
}

static void the_wrong_note_and_a_torn_one_are_refused(void)
{
	struct err e = { 0 };
	int host, child;

	open_pair(&host, &child);
	assert(channel_send(child, NOTE_START, -1, &e) == 0);
	assert(channel_expect(host, NOTE_READY, NULL, &e) == -EPROTO);
	assert(strcmp(e.text, "expected note 82, got 83") == 0);
	assert(send(child, "torn", 4, 0) == 4);
	assert(channel_expect(host, NOTE_READY, NULL, &e) == -EPROTO);
	assert(strcmp(e.text, "a note of 4 bytes") == 0);
	close(host);
	close(child);
}

static void a_descriptor_travels_with_a_note_and_is_close_on_exec(void)
{
	struct err e = { 0 };
	int host, child, pipe_ends[2], carried = -2;

	open_pair(&host, &child);
	assert(pipe(pipe_ends) == 0);
	assert(channel_send(child, NOTE_READY, pipe_ends[1], &e) == 0);
	assert(channel_expect(host, NOTE_READY, &carried, &e) == 0);
	assert(carried >= 0 && fcntl(carried, F_GETFD) == FD_CLOEXEC);
	assert(write(carried, "x", 1) == 1);
	assert(channel_send(child, NOTE_READY, -1, &e) == 0);
	close(carried);
	assert(channel_expect(host, NOTE_READY, &carried, &e) == 0 && carried == -1);
	close(host);
	close(child);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

int main(void)
{
	a_failure_arrives_unchanged();
	a_dead_peer_is_an_error_and_not_a_hang();
	the_wrong_note_and_a_torn_one_are_refused();
	a_descriptor_travels_with_a_note_and_is_close_on_exec();
	return 0;
}
