/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pasta.h - connect a network namespace without privileges; pasta(1) does the work
 *
 * Layer: steps; includes base/ and model/ only; called from engine/plan_host.c only.
 */
#pragma once

#include <sys/types.h>

struct err;

/* Connects the network namespace of the process.  pasta stays in the background and ends when
 * the namespace does. */
int pasta_connect(pid_t pid, struct err *e);
