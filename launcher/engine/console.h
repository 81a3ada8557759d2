/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* console.h - between the caller's terminal (or pipes) and the container's
 *
 * Source: termios(3), ioctl_tty(2).
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct console {
	int master;           /* our end of the container's terminal; -1: there is none */
	bool raw;             /* the caller's terminal was made raw; undo gives it back */
	struct termios saved; /* what it was */
	bool input_ended;
	size_t pending; /* bytes read from the caller that the container has not taken yet */
	char buffer[4096];
};

enum { CONSOLE_POLLS = 2 };

/* Takes the terminal over: raw on our side, the size of ours on theirs. */
void console_start(struct console *k, int master);
void console_copy_size(const struct console *k);

/* What to wait for, and what to do when it has come. */
void console_poll(const struct console *k, struct pollfd polls[static CONSOLE_POLLS]);
void console_move(struct console *k, const struct pollfd polls[static CONSOLE_POLLS]);

/* Writes out what the container still said, and gives the caller's terminal back. */
void console_end(struct console *k);
