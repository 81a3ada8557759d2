/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * turns.h - let the workers of one block run one after the other in small steps
 *
 * On a shared machine the cost of everything moves by half within milliseconds, with what other
 * threads of the core do.  Workers that run one after the other, whole, meet other
 * circumstances; workers that take turns every few batches meet the same ones.
 *
 *   study                                       worker
 *     |  <------------------ {"turn":"wanted"}    |  everything is prepared
 *     |  one byte, any -----------------------> |  some batches
 *     |  <------------------ {"turn":"wanted"}    |  or the record, when it was the last turn
 */
#pragma once

#include "problem.h"

/* Asks on standard output for a turn and waits on standard input until it is given.
 * Returns 0, or -1 with *p filled when nobody gives turns any more. */
int turn_wait(struct problem *p);
