/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_agent.h - a filter that leaves some system calls to an agent outside
 *
 * Source: seccomp(2), SECCOMP_FILTER_FLAG_NEW_LISTENER; seccomp_unotify(2); OCI runtime
 *         specification, config-linux.md, "The Container Process State".
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_child.c only.
 */
#pragma once

struct err;
struct seccomp_filter;

/* Loads the filter and sends its listener over the agent's connection, with the text of the file
 * `state`.  Under the new filter not one system call of ours is sure to pass, not even sendmsg(2):
 * so a short-lived process without it, which shares our descriptors, does the sending.
 * Returns 0, or -errno with *e filled; see seccomp_load_filter(). */
int seccomp_load_for_agent(const struct seccomp_filter *filter, int agent, int state,
			   struct err *e);
