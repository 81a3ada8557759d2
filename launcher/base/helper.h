/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* helper.h - run another program that does one thing better than we would */
#pragma once

struct err;

/* Runs argv[0], looked up in PATH, with our standard streams, and waits for it.
 * Returns 0 if it ended with 0; else -ENOENT if there is no such program, -EPERM if it failed, with
 * *e filled, where what the program itself said stands above our message. */
int helper_run(const char *const *argv, struct err *e);
