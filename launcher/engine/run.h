/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run.h - one container, from clone3(2) to exit status */
#pragma once

struct container_spec;
struct err;

/* Runs the container and waits for it.  Returns 0 and its wait status, or -errno with *e filled;
 * in both cases nothing is left behind. */
int container_run(const struct container_spec *spec, int *ret_status, struct err *e);
