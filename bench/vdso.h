/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vdso.h - find a function in the object that the kernel maps into every process
 *
 * Source: vdso(7).  The C library would do, but it may fall back to a system call without
 * a word; a function that was found here is the vDSO's.
 */
#pragma once

#include "loops.h"

/* The kernel's name for a function on this processor. */
#if defined(__aarch64__)
#define VDSO(name) "__kernel_" name
#else
#define VDSO(name) "__vdso_" name
#endif

/* Returns the address of the symbol, or NULL when there is no vDSO or it lacks the symbol. */
const void *vdso_function(const char *symbol);
