/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* namespaces_enter.h - enter existing namespaces of any kind, and create others, in one go
 *
 * Source: setns(2), clone(2) (CLONE_PARENT), user_namespaces(7).
 * Layer:  steps; includes base/ and model/ only; called from engine/ only.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "model/namespaces.h"

struct err;

/* A short-lived process enters what fds names (-1: not this kind) and then clones a child of
 * ours with the new namespaces, so that we ourselves stay where we are.  Namespaces that our own
 * user namespace may enter are entered first, then the user namespace, then the rest: so one is
 * found whoever owns it.  A new user namespace beside a joined pid namespace is created by the child.
 * Returns the process id of our new child, 0 in that child, or -errno with *e filled. */
pid_t namespaces_enter(const int fds[static NS_COUNT], uint32_t new_namespaces, struct err *e);
