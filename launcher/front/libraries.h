/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libraries.h - who reads JSON and compiles seccomp profiles
 *
 * Few command lines need it, and linking jansson and libseccomp needs glibc, whose start costs a
 * tenth of a container's.  So where musl is at hand timens-run is built twice: without the
 * libraries, and as timens-run-full, which the small one becomes when it needs them
 * (docs/decisions/0152).
 */
#pragma once

struct err;

/* Returns 0 in the program that has the libraries.  The other executes that one with these words,
 * the first of which is the program's name, and returns -errno if that fails.  To be called before
 * anything outside this process was changed. */
int libraries_need(char *const *words, struct err *e);
