/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/console.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void console_copy_size(const struct console *k)
{
	struct winsize size;

	/* Whoever starts us from a pipe has no size to give. */
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		(void)ioctl(k->master, TIOCSWINSZ, &size); /* a wrong size harms nothing */
}

void console_start(struct console *k, int master)
{
	struct termios raw;

	k->master = master;
	(void)fcntl(master, F_SETFL, O_NONBLOCK); /* cannot fail on an open fd */
	console_copy_size(k);
	if (tcgetattr(STDIN_FILENO, &k->saved) < 0)
		return; /* not a terminal */
	raw = k->saved;
	cfmakeraw(&raw);
	k->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void console_poll(const struct console *k, struct pollfd polls[static CONSOLE_POLLS])
{
	short master_events = POLLIN;

	if (k->pending > 0)
		master_events |= POLLOUT;
	polls[0] = (struct pollfd){ .fd = k->master, .events = master_events };
	polls[1] = (struct pollfd){
		.fd = k->master < 0 || k->input_ended || k->pending > 0 ? -1 : STDIN_FILENO,
		.events = POLLIN,
	};
}

/* Takes what the caller typed; the end of a pipe becomes the end-of-file key. */
static void read_input(struct console *k)
{
	ssize_t n = read(STDIN_FILENO, k->buffer, sizeof k->buffer);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	k->input_ended = n <= 0;
	k->pending = n > 0 ? (size_t)n : 1;
	if (n <= 0)
		k->buffer[0] = 'D' - '@';
}

static void write_input(struct console *k)
{
	ssize_t n = write(k->master, k->buffer, k->pending);

	if (n <= 0)
		return; /* full: poll tells when to try again */
	k->pending -= (size_t)n;
	memmove(k->buffer, k->buffer + n, k->pending);
}

/* False at the end: nobody has the terminal open inside (EIO), or nothing to read now. */
static bool copy_output(const struct console *k)
{
	char bytes[4096];
	ssize_t n = read(k->master, bytes, sizeof bytes);

	for (ssize_t done = 0, m; done < n; done += m) {
		m = write(STDOUT_FILENO, bytes + done, (size_t)(n - done));
		if (m < 0 && errno == EINTR)
			m = 0;
		else if (m < 0)
			break; /* the reader has gone; the container goes on */
	}
	return n > 0;
}

void console_move(struct console *k, const struct pollfd polls[static CONSOLE_POLLS])
{
	if (polls[0].revents & POLLIN)
		(void)copy_output(k); /* poll tells whether there is more */
	if (polls[1].revents != 0)
		read_input(k);
	if (k->pending > 0)
		write_input(k);
}

void console_end(struct console *k)
{
	if (k->master >= 0)
		while (copy_output(k))
			;
	if (k->raw)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &k->saved); /* it may have hung up */
	k->raw = false;
}
