/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* self_copy.h - run from a sealed copy of our own program file
 *
 * A process of ours that is already inside a container shows our program file as /proc/PID/exe,
 * and a hostile image that gets us executed again could write to it (CVE-2019-5736).  What it
 * would write to here is a copy in memory that the kernel lets nobody change.
 */
#pragma once

struct err;

/* Returns 0 in the copy, or -errno with *e filled. */
int self_copy_enter(char **argv, struct err *e);
