/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/near_wrap.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define DEFAULT_LEAD_S 30
#define RANDOM_RANGE_MS (UINT64_C(365) * 86400 * 1000)

static const struct near_wrap table[] = {
	{ "us31", 31, 1000, "signed 32-bit microseconds",
	  "tv_sec * 1000000 + tv_nsec / 1000 of clock_gettime(2) in an int" },
	{ "us32", 32, 1000, "unsigned 32-bit microseconds",
	  "the same in a uint32_t; micros() of Arduino code on Linux" },
	{ "ms31", 31, 1000000, "signed 32-bit milliseconds",
	  "clock_gettime(2) in ms, or GetTickCount() of Wine, in an int; Java's (int) of "
	  "nanoTime" },
	{ "ms32", 32, 1000000, "unsigned 32-bit milliseconds",
	  "GetTickCount() of Wine, millis() of Arduino code; Windows 95 stopped here" },
	{ "ns53", 53, 1, "nanoseconds in a double",
	  "Number(process.hrtime.bigint()) in Node, JSON: steps of 2 ns from here on" },
	{ "s24", 24, 1000000000, "seconds in a float",
	  "(float) of any clock in seconds: adding 1 s does nothing from here on" },
	{ "HZ250", 32, 4000000, "unsigned 32-bit ticks of 4 ms",
	  "tick counters like the jiffies of a 32-bit kernel with HZ=250" },
	{ "ns54", 54, 1, "64-bit nanoseconds times 2^10",
	  "fixed-point code like the sched_clock() that stopped Linux 2.6.32 after 208 days" },
	{ "cs31", 31, 10000000, "signed 32-bit hundredths",
	  "hundredths in an int, as in generator control units of the Boeing 787" },
	{ "cs32", 32, 10000000, "unsigned 32-bit hundredths",
	  "TimeTicks of SNMP (hrSystemUptime); the uptime of Linux 2.4 began again here" },
	{ "s31", 31, 1000000000, "signed 32-bit seconds",
	  "tv_sec of a monotonic clock in an int or a 32-bit time_t" },
};

struct clock_offset near_wrap_at(const struct near_wrap *wrap)
{
	return clock_offset_from_ns(((__int128)1 << wrap->bits) * wrap->unit_ns);
}

const struct near_wrap *near_wraps(size_t *ret_count)
{
	*ret_count = sizeof table / sizeof *table;
	return table;
}

int near_wrap_parse(const char *text, struct clock_offset *ret_reading, struct err *e)
{
	size_t length = strcspn(text, "-");
	const struct near_wrap *wrap = NULL;
	struct clock_offset lead = { .s = DEFAULT_LEAD_S }, reading;
	int r;

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strlen(table[i].name) == length && memcmp(table[i].name, text, length) == 0)
			wrap = &table[i];
	if (!wrap) {
		(void)err_set(e, EINVAL, "'%.60s' is not a known wrap", text);
		return err_hint(e, "--near-wrap list explains each; ms32-5s is 5 s before ms32");
	}
	if (text[length] == '-') {
		const char *duration = text + length + 1;

		if (duration[0] == '-' || duration[0] == '+')
			return err_set(e, EINVAL, "'%.60s' has a second sign", text);
		r = clock_offset_parse(duration, &lead, e);
		if (r < 0)
			return r;
	}
	reading = clock_offset_sub(near_wrap_at(wrap), lead);
	if (reading.s < 0)
		return err_set(e, ERANGE, "'%.60s' is before the clock is zero", text);
	*ret_reading = reading;
	return 0;
}

int uptime_parse(const char *text, uint64_t random_bits, struct clock_offset *ret_reading,
		 struct err *e)
{
	struct clock_offset reading;
	int r;

	if (strncmp(text, "near:", 5) == 0)
		return near_wrap_parse(text + 5, ret_reading, e);
	if (strcmp(text, "random") == 0) {
		*ret_reading =
			clock_offset_from_ns((__int128)(random_bits % RANDOM_RANGE_MS) * 1000000);
		return 0;
	}
	r = clock_offset_parse(text, &reading, e);
	if (r < 0)
		return r;
	if (text[0] == '-')
		return err_set(e, EINVAL, "'%.60s' is negative: no clock reads that", text);
	*ret_reading = reading;
	return 0;
}
