/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pasta.h - connect a network namespace without privileges; pasta(1) does the work
 *
 * Layer: steps; includes base/ and model/ only; called from engine/ only.
 */
#pragma once

#include <sys/types.h>

struct err;

struct pasta {
	pid_t pid;   /* 0: none was started */
	pid_t guard; /* ends it when we are gone: pasta before 2024 would stay */
};

/* Connects the network namespace of the process; pasta stays in the background. */
int pasta_connect(pid_t pid, struct pasta *ret, struct err *e);

/* Ends it. */
void pasta_end(struct pasta *pasta);
