/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cleanup.h - close what is open, however a function is left
 */
#pragma once

#include <unistd.h>

static inline void close_fdp(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

#define autoclose __attribute__((cleanup(close_fdp)))
