/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* terminal.h - a terminal of the container's own
 *
 * Made inside, from the container's own devpts, so that its name is right there; its other end
 * goes to the launcher with the note READY.
 *
 * Source: pty(7), ioctl_tty(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_child.c only.
 */
#pragma once

#include <stdint.h>

struct err;

/* Makes the terminal of user uid, also as /dev/console, gives it to the session that the caller
 * leads, and puts it in place of the standard streams.  ret_master is the launcher's end. */
int terminal_make(int root, uint32_t uid, int *ret_master, struct err *e);
