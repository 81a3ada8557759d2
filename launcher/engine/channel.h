/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* channel.h - everything host side and child ever say to each other
 *
 *   host                              child (in its new namespaces)
 *     |  clone3() --------------------> |  waits
 *     |  writes limits and id maps      |
 *     |  MAPPED ----------------------> |  clocks, mounts, devices, drops privileges
 *     |  <----------------------- READY |  waits; READY carries the terminal, if there is one
 *     |  tells who asked, opens gate    |
 *     |  START -----------------------> |  init, seccomp filter, execve()
 *     |   (not if there was nothing     |
 *     |    to tell or to open)          |
 *     |  <----------------- end of file |  the socket is close-on-exec: exec worked
 *
 * In place of READY or end of file the child may send FAILED with its struct err.
 * A bundle has two notes more between MAPPED and READY where the engine wants hooks run before
 * the root changes: MOUNTED from the child, HOOKED in answer.  And as its host side ends before
 * the container starts, START comes a second time, over a connection to the container's socket.
 * A side that dies is seen as end of file too early, never as a hang.
 */
#pragma once

struct err;

enum note {
	NOTE_END_OF_FILE = 0,
	NOTE_MAPPED = 'M',
	NOTE_MOUNTED = 'O',
	NOTE_HOOKED = 'H',
	NOTE_READY = 'R',
	NOTE_START = 'S',
	NOTE_FAILED = 'F',
};

/* Creates the two ends, SOCK_SEQPACKET (one note is one packet) and close-on-exec. */
int channel_open(int *ret_host, int *ret_child, struct err *e);

/* Sends a note, with a file descriptor if carried is not -1. */
int channel_send(int fd, enum note note, int carried, struct err *e);

/* Best effort: the sender is about to exit in any case. */
void channel_send_failure(int fd, const struct err *failure);

/* Waits for exactly this note.  If FAILED comes instead, *e becomes the child's own error.
 * ret_carried may be NULL; it receives the fd that came with the note, or -1. */
int channel_expect(int fd, enum note wanted, int *ret_carried, struct err *e);
