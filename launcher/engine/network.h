/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* network.h - a network namespace, made while the container's mounts are
 *
 * It takes a third of a start (docs/performance.md), and nothing needs it before sysfs.  So a
 * process of its own makes it, brings lo up, and leaves it open as a file of the container
 * process, with which it shares the table of open files.
 * Source: clone(2), CLONE_FILES; network_namespaces(7).
 */
#pragma once

struct container;
struct err;

/* Starts that process, or makes it at once where no other process can be started. */
int network_begin(struct container *c, struct err *e);

/* Waits for it and enters the namespace.  What went wrong the host is told by the process itself;
 * -EPIPE is what is left to say. */
int network_enter(struct container *c, struct err *e);
