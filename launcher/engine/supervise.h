/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* supervise.h - the launcher's life beside a running container */
#pragma once

struct container;
struct err;

/* Blocks the signals that are forwarded later; c->caller_mask keeps what was before. */
int supervise_block_signals(struct container *c, struct err *e);

/* Forwards signals, moves bytes between the two terminals if there are two, and waits for the
 * end of the container; c->status then holds its wait status. */
int supervise_wait(struct container *c, struct err *e);

/* Waits until somebody writes to the gate or closes it; a signal of end gives -EINTR. */
int supervise_gate(struct container *c, int gate, struct err *e);
