/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a duration may look like, to the nanosecond, and the exact reason when it may not. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/clock_offset.h"

static void reads(const char *text, int64_t s, uint32_t ns)
{
	struct clock_offset o = { .s = 77, .ns = 77 };
	struct err e = { 0 };

	if (clock_offset_parse(text, &o, &e) != 0 || o.s != s || o.ns != ns) {
		fprintf(stderr, "'%s' gave %lld s %u ns, error '%s'\n", text, (long long)o.s, o.ns,
			e.text);
		assert(!"a duration is read wrongly");
	}
}

static void refuses(const char *text, int code, const char *why)
{
	struct clock_offset o = { .s = 77, .ns = 77 };
	struct err e = { 0 };

	if (clock_offset_parse(text, &o, &e) != -code || strcmp(e.text, why) != 0) {
		fprintf(stderr, "'%s' gave %d '%s', wanted '%s'\n", text, e.code, e.text, why);
		assert(!"a duration is refused wrongly");
	}
	assert(o.s == 77 && o.ns == 77); /* a result is written only on success */
}

static void every_documented_form_is_read(void)
{
	reads("+3600", 3600, 0);
	reads("-30", -30, 0);
	reads("1.5", 1, 500000000);
	reads("-0.5", -1, 500000000);
	reads("1h30m", 5400, 0);
	reads("2d 3h", 183600, 0);
	reads("500ms", 0, 500000000);
	reads("250us", 0, 250000);
	reads("250\xc2\xb5s", 0, 250000);
	reads("10ns", 0, 10);
	reads("-10ns", -1, 999999990);
	reads("P1DT2H", 93600, 0);
	reads("-P1DT2H", -93600, 0);
	reads("P2W", 1209600, 0);
	reads("PT5M", 300, 0);
	reads("PT1.5S", 1, 500000000);
	reads("0", 0, 0);
	reads("-0", 0, 0);
	reads("1w2d3h4m5s6ms7us8ns", 788645, 6007008);
	reads("3 hours 5 min", 11100, 0);
	reads("5m", 300, 0); /* as systemd, not months */
	reads("0.000000001", 0, 1);
	reads("1.5d", 129600, 0);
	reads("0.100000000000", 0, 100000000);
	reads("9223372036", 9223372036, 0);
}

static void what_is_ambiguous_is_refused(void)
{
	refuses("5M", EINVAL, "'5M' has the ambiguous unit 'M'");
	refuses("P5M", EINVAL, "'P5M' has the ambiguous unit 'M'");
	refuses("1y", EINVAL, "'1y' has a unit without a fixed length");
	refuses("P1Y", EINVAL, "'P1Y' has a unit without a fixed length");
	refuses("2months", EINVAL, "'2months' has a unit without a fixed length");
	refuses("1h30", EINVAL, "'1h30' has a part without a unit");
	refuses("1 2h", EINVAL, "'1 2h' has a part without a unit");
	refuses("30m1h", EINVAL, "'30m1h' must name its units from large to small, each once");
	refuses("1h1h", EINVAL, "'1h1h' must name its units from large to small, each once");
}

static void dates_are_refused_with_a_hint(void)
{
	static const char *const dates[] = {
		"2038-01-19",           "03:14",      "@2147483647", "tomorrow",
		"2038-01-19T03:14:07Z", "19/01/2038", "now"
	};
	struct clock_offset o;

	for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
		struct err e = { 0 };
		char why[80];

		snprintf(why, sizeof why, "'%s' is a date, not a duration", dates[i]);
		refuses(dates[i], EINVAL, why);
		(void)clock_offset_parse(dates[i], &o, &e);
		assert(strcmp(e.hint,
			      "the kernel's time namespace does not cover CLOCK_REALTIME: dates "
			      "inside are always the host's") == 0);
	}
}

static void rubbish_is_refused(void)
{
	static const char *const rubbish[] = { "",    " ",   "+",    "-",    "+-5",  "--5", "x",
					       " 5",  "P",   "PT",   "P1DT", "0x10", "inf", "nan",
					       "1e3", "5 x", "1,5",  ".5",   "1..5", "h",   "1hh",
					       "5s ", "5S",  "5MIN", "P1H",  "p1D",  "1s\n" };
	for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
		struct clock_offset o = { .s = 77 };
		struct err e = { 0 };

		if (clock_offset_parse(rubbish[i], &o, &e) != -EINVAL || e.hint[0] == '\0') {
			fprintf(stderr, "'%s' was not refused\n", rubbish[i]);
			assert(!"rubbish was taken for a duration");
		}
		assert(o.s == 77);
	}
	refuses("1,5", EINVAL, "'1,5' is not a duration");
	refuses("-", EINVAL, "'-' is not a duration");
	refuses("5s ", EINVAL, "'5s ' is not a duration");
}

static void nothing_is_rounded_and_nothing_wraps(void)
{
	refuses("0.5ns", EINVAL, "'0.5ns' is finer than a nanosecond");
	refuses("0.0000000001", EINVAL, "'0.0000000001' is finer than a nanosecond");
	refuses("18446744073709551621", EINVAL, /* 2^64+5, which the kernel takes as 5 */
		"'18446744073709551621' has more than 18 digits in a row");
	refuses("9223372037", ERANGE, "'9223372037' is beyond 292 years, where no clock counts");
	refuses("999999999999999999w", ERANGE,
		"'999999999999999999w' is beyond 292 years, where no clock counts");
	refuses("106751d 2d", EINVAL,
		"'106751d 2d' must name its units from large to small, each once");
	refuses("15250w 7d", ERANGE, "'15250w 7d' is beyond 292 years, where no clock counts");
}

static void what_is_written_can_be_read_again(void)
{
	static const struct clock_offset all[] = { { 0, 0 },
						   { 3600, 0 },
						   { -1, 500000000 },
						   { -1, 999999999 },
						   { 9223372036, 854775807 },
						   { -30, 0 },
						   { 0, 10 } };
	static const char *const texts[] = {
		"+0", "+3600", "-0.5", "-0.000000001", "+9223372036.854775807", "-30", "+0.00000001"
	};
	char text[CLOCK_OFFSET_TEXT];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert(strcmp(clock_offset_format(all[i], text), texts[i]) == 0);
		reads(text, all[i].s, all[i].ns);
	}
	assert(strcmp(clock_offset_human((struct clock_offset){ 4294967, 296000000 }, text),
		      "49d 17h 2m 47.296s") == 0);
	assert(strcmp(clock_offset_human((struct clock_offset){ -1, 500000000 }, text),
		      "-0.500s") == 0);
}

static void sums_carry_over_the_second(void)
{
	struct clock_offset a = { 1, 700000000 }, b = { -1, 500000000 }, r;

	r = clock_offset_add(a, b);
	assert(r.s == 1 && r.ns == 200000000);
	r = clock_offset_sub(b, a);
	assert(r.s == -3 && r.ns == 800000000);
}

static void what_the_kernel_shows_is_read(void)
{
	struct clock_offsets o;

	assert(clock_offsets_parse(
		"monotonic          -1 500000000\nboottime        86400         0\n", &o));
	assert(o.monotonic.s == -1 && o.monotonic.ns == 500000000);
	assert(o.boottime.s == 86400 && o.boottime.ns == 0);
	assert(!clock_offsets_parse("", &o));
	assert(!clock_offsets_parse("boottime 1 2\n", &o));
}

int main(void)
{
	what_the_kernel_shows_is_read();
	every_documented_form_is_read();
	what_is_ambiguous_is_refused();
	dates_are_refused_with_a_hint();
	rubbish_is_refused();
	nothing_is_rounded_and_nothing_wraps();
	what_is_written_can_be_read_again();
	sums_carry_over_the_second();
	return 0;
}
