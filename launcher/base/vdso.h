/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vdso.h - the functions that the kernel maps into every process, vdso(7) */
#pragma once

#include <time.h>

typedef int vdso_clock_gettime(clockid_t clock, struct timespec *ret_time);

/* The vDSO's own clock_gettime(), so that nobody has to trust that the C library uses it.
 * NULL where there is none. */
vdso_clock_gettime *vdso_find_clock_gettime(void);
