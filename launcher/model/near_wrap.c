/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/near_wrap.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define DEFAULT_LEAD_S 30
#define RANDOM_RANGE_MS (UINT64_C(365) * 86400 * 1000)

/* { .s, .ns } of 2^bits units of 10^-exponent s, checked against the powers in tests/unit. */
static const struct near_wrap table[] = {
	{ "us31",
	  { 2147, 483648000 },
	  "signed 32-bit microseconds",
	  "(int) casts of usec counters, esp_timer and micros() kept in an int" },
	{ "us32",
	  { 4294, 967296000 },
	  "unsigned 32-bit microseconds",
	  "Arduino micros(), 32-bit usec ticks of drivers and game loops" },
	{ "ms31",
	  { 2147483, 648000000 },
	  "signed 32-bit milliseconds",
	  "GetTickCount(), SDL_GetTicks() or millis() kept in an int; Java (int) of nanoTime/1e6" },
	{ "ms32",
	  { 4294967, 296000000 },
	  "unsigned 32-bit milliseconds",
	  "GetTickCount(), timeGetTime(), SDL_GetTicks(), Arduino millis(); Windows 95" },
	{ "ns53",
	  { 9007199, 254740992 },
	  "nanoseconds in a double",
	  "JavaScript Number, Lua number, JSON readers: steps of 2 ns from here on" },
	{ "s24",
	  { 16777216, 0 },
	  "seconds in a float",
	  "float uptime in games and shaders: adding 1 s does nothing from here on" },
	{ "HZ250",
	  { 17179869, 184000000 },
	  "unsigned 32-bit ticks of 4 ms",
	  "jiffies of a 32-bit kernel at HZ=250, and programs that count such ticks" },
	{ "ns54",
	  { 18014398, 509481984 },
	  "64-bit nanoseconds times 2^10",
	  "fixed-point cycles-to-ns code, as sched_clock() of Linux 2.6.28 to 3.1" },
	{ "cs31",
	  { 21474836, 480000000 },
	  "signed 32-bit hundredths",
	  "32-bit clock_t of times(2), generator control of the Boeing 787" },
	{ "cs32",
	  { 42949672, 960000000 },
	  "unsigned 32-bit hundredths",
	  "SNMP sysUpTime (TimeTicks), uptime of Linux 2.4, jiffies at HZ=100" },
	{ "s31",
	  { 2147483648, 0 },
	  "signed 32-bit seconds",
	  "32-bit time_t or int of a monotonic clock" },
};

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
	reading = clock_offset_sub(wrap->at, lead);
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
