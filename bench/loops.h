/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * loops.h - the only code that runs between two readings of the tick counter
 *
 * Written by hand, one file per processor, because the compiler's placement of a loop is worth
 * more than any effect that we look for: a system call costs up to 37 % more when the instruction
 * after it lies near the end of a 64-byte line.  Every system call therefore runs through the
 * same loop at the same place of a line, and so does every function.
 */
#pragma once

#include <stdint.h>

/* One system call, repeated.  A step of 0 uses the same value every time; a step of
 * sizeof(long) walks through an array, e.g. of the timers that an earlier loop created.
 * The loops keep their own state in the registers of the 5th and 6th argument: calls that have
 * more than four cannot be measured here. */
struct loop_call {
	long number;
	const long *arg0; /* loaded anew for every call */
	long arg0_step;   /* bytes */
	long arg1;
	long arg2;
	long arg3;
	long arg2_step; /* bytes; for calls that write their result behind the third argument */
	long *result;   /* receives what the call returned */
	long result_step;
};

/* Makes the call n > 0 times.  Returns all results OR-ed: negative when one was. */
long loop_syscall(const struct loop_call *call, uint64_t n);

/* Calls a function of the vDSO or of the C library, by its address, n > 0 times.
 * Returns all results OR-ed. */
long loop_function(const void *function, long arg0, long arg1, uint64_t n);

/* Reads the tick counter of this processor n > 0 times. */
void loop_counter(uint64_t n);

/* Two canaries, n > 0 turns each.  Sixteen multiplications, each waiting for the last: its time is
 * a number of cycles whatever else the core does, so it changes with the frequency alone. */
void loop_multiply(uint64_t n);

/* A taken branch and nothing else: it also slows down when another thread uses the core. */
void loop_empty(uint64_t n);
