/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cleanup.h - release in the declaration, so that every early return is safe */
#pragma once

#include <stdlib.h>
#include <unistd.h>

static inline void close_fdp(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void freep(void *p)
{
	free(*(void **)p);
}

#define autoclose __attribute__((cleanup(close_fdp)))
#define autofree __attribute__((cleanup(freep)))

/* Hands an fd over to the caller: the cleanup then finds -1 and does nothing. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
