/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host_check.h - what this host lets this user do, tried rather than guessed */
#pragma once

#include <stdbool.h>

/* `user` is our name, or "" if we have none.
 * Prints one line for each thing that timens-run uses, and how to get what is missing.
 * Returns 0 if a command can be given clocks of its own here, else 1. */
int host_check_print(const char *user, bool json);
