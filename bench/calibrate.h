/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * calibrate.h - what a tick is worth
 */
#pragma once

#include <stdint.h>

#include "ticks.h"

/* Nanoseconds per tick, between two points that are this far apart.  Each point is the tightest of
 * several brackets (tick, CLOCK_MONOTONIC_RAW by system call, tick): half a second gives some
 * 20 parts in 10^9. */
double calibrate_ns_per_tick(enum tick_source source, uint64_t apart_ns);

/* The greatest common divisor of the steps that the counter was seen to make, in ticks. */
uint64_t calibrate_granularity(enum tick_source source);
