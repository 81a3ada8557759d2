/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of wraps against the powers of two that it claims, and how a place near one is read. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/near_wrap.h"

static const struct {
	const char *name;
	int bits;
	int64_t unit_ns;
} claims[] = {
	{ "us31", 31, 1000 },     { "us32", 32, 1000 },      { "ms31", 31, 1000000 },
	{ "ms32", 32, 1000000 },  { "ns53", 53, 1 },         { "s24", 24, 1000000000 },
	{ "HZ250", 32, 4000000 }, { "ns54", 54, 1 },         { "cs31", 31, 10000000 },
	{ "cs32", 32, 10000000 }, { "s31", 31, 1000000000 },
};

static void each_wrap_is_where_its_type_overflows(void)
{
	__int128 last = 0;
	const struct near_wrap *wraps;
	size_t count;

	wraps = near_wraps(&count);
	assert(count == sizeof claims / sizeof *claims);
	for (size_t i = 0; i < count; i++) {
		__int128 at = clock_offset_to_ns(near_wrap_at(&wraps[i]));

		assert(strcmp(wraps[i].name, claims[i].name) == 0);
		assert(at == ((__int128)1 << claims[i].bits) * claims[i].unit_ns);
		assert(at > last); /* soonest first */
		last = at;
	}
}

static void a_place_before_a_wrap_is_read(void)
{
	struct clock_offset o;
	struct err e;

	assert(near_wrap_parse("ms32-5s", &o, &e) == 0 && o.s == 4294962 && o.ns == 296000000);
	assert(near_wrap_parse("ms32", &o, &e) == 0 && o.s == 4294937 && o.ns == 296000000);
	assert(near_wrap_parse("us31-2147.483648", &o, &e) == 0 && o.s == 0 && o.ns == 0);
	assert(near_wrap_parse("s31-1d 2h", &o, &e) == 0 && o.s == 2147390048);
}

static void refuses(const char *text, int code, const char *why)
{
	struct clock_offset o = { .s = 77 };
	struct err e;

	assert(near_wrap_parse(text, &o, &e) == -code && o.s == 77);
	assert(strcmp(e.text, why) == 0);
}

static void what_is_not_near_a_wrap_is_refused(void)
{
	refuses("ms33", EINVAL, "'ms33' is not a known wrap");
	refuses("", EINVAL, "'' is not a known wrap");
	refuses("MS32", EINVAL, "'MS32' is not a known wrap");
	refuses("ms32-", EINVAL, "'' is not a duration");
	refuses("ms32--5", EINVAL, "'ms32--5' has a second sign");
	refuses("ms32-5M", EINVAL, "'5M' has the ambiguous unit 'M'");
	refuses("us31-1h", ERANGE, "'us31-1h' is before the clock is zero");
}

static void an_uptime_is_a_reading(void)
{
	struct clock_offset o;
	struct err e;

	assert(uptime_parse("0", 0, &o, &e) == 0 && o.s == 0 && o.ns == 0);
	assert(uptime_parse("49d17h", 0, &o, &e) == 0 && o.s == 4294800);
	assert(uptime_parse("near:ms32-30s", 0, &o, &e) == 0 && o.s == 4294937);
	assert(uptime_parse("random", 1500, &o, &e) == 0 && o.s == 1 && o.ns == 500000000);
	assert(uptime_parse("random", UINT64_MAX, &o, &e) == 0 && o.s >= 0 && o.s < 31536000);
	assert(uptime_parse("-5", 0, &o, &e) == -EINVAL);
	assert(strcmp(e.text, "'-5' is negative: no clock reads that") == 0);
	assert(uptime_parse("-0", 0, &o, &e) == -EINVAL);
}

int main(void)
{
	each_wrap_is_where_its_type_overflows();
	a_place_before_a_wrap_is_read();
	what_is_not_near_a_wrap_is_refused();
	an_uptime_is_a_reading();
	return 0;
}
