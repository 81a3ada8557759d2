/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock_offset.h - a duration as people write it, and as the kernel takes it
 *
 * Layer: model; pure, no system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Added to the host's clock.  -0.5 s is { .s = -1, .ns = 500000000 }: ns is never negative. */
struct clock_offset {
	int64_t s;   /* whole seconds */
	uint32_t ns; /* nanoseconds, 0 to 999 999 999 */
};

struct clock_offsets {
	struct clock_offset monotonic, boottime;
};

/* Reads a duration: [+|-] and one of
 *   3600  1.5                  seconds
 *   1h30m  2d 3h  500ms 10ns   units of systemd.time(7), from large to small, each once;
 *                              "m" is minutes, months and years have no fixed length: refused
 *   P1DT2H  P2W  PT1.5S        ISO 8601, without years and months for the same reason
 * Nothing is rounded and nothing is ignored.
 *
 * Returns 0, or a negative errno with *e filled (and a hint):
 *   -EINVAL  not a duration, an ambiguous one, finer than a nanosecond, or a date
 *   -ERANGE  beyond 292 years: no clock of the kernel counts that far
 */
int clock_offset_parse(const char *text, struct clock_offset *ret_offset, struct err *e);

/* Reads what /proc/PID/timens_offsets says, time_namespaces(7); false if it says something else. */
bool clock_offsets_parse(const char *lines, struct clock_offsets *ret_offsets);

/* Sums and differences of what clock_offset_parse() gives and of readings of clocks: they cannot
 * overflow 64 bits of seconds. */
struct clock_offset clock_offset_add(struct clock_offset a, struct clock_offset b);
struct clock_offset clock_offset_sub(struct clock_offset a, struct clock_offset b);
struct clock_offset clock_offset_from_ns(__int128 ns);
__int128 clock_offset_to_ns(struct clock_offset o);

/* Exact and readable by clock_offset_parse(): "+3600", "-0.5", "+0". */
enum { CLOCK_OFFSET_TEXT = 40 };
const char *clock_offset_format(struct clock_offset o, char text[static CLOCK_OFFSET_TEXT]);
/* For people, to the millisecond: "49d 17h 2m 47.296s". */
const char *clock_offset_human(struct clock_offset o, char text[static CLOCK_OFFSET_TEXT]);
