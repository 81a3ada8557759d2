/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what is asked for to what is written, and the bounds with their reasons. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/clock_target.h"

/* Up for 1000.25 s, of which 100 s asleep; RAW is 0.24 s behind. */
static const struct clock_view host = {
	.monotonic = { 900, 250000000 },
	.raw = { 900, 10000000 },
	.boottime = { 1000, 250000000 },
};
/* The same host, seen from a namespace that is 5000 s (monotonic) and -7.5 s (boottime) off. */
static const struct clock_view nested = {
	.monotonic = { 5900, 250000000 },
	.raw = { 5900, 10000000 },
	.boottime = { 992, 750000000 },
	.own = { .monotonic = { 5000, 0 }, .boottime = { -8, 500000000 } },
};

static void resolves(struct clock_targets t, const struct clock_view *now, const char *monotonic,
		     const char *boottime)
{
	struct clock_offsets o;
	struct err e = { 0 };
	char text[CLOCK_OFFSET_TEXT];

	assert(clock_targets_resolve(&t, now, &o, &e) == 0);
	assert(strcmp(clock_offset_format(o.monotonic, text), monotonic) == 0);
	assert(strcmp(clock_offset_format(o.boottime, text), boottime) == 0);
}

static void refuses(struct clock_targets t, const struct clock_view *now, const char *why)
{
	struct clock_offsets o = { .monotonic.s = 77 };
	struct err e = { 0 };

	assert(clock_targets_resolve(&t, now, &o, &e) == -ERANGE);
	if (strcmp(e.text, why) != 0) {
		fprintf(stderr, "got    '%s'\nwanted '%s'\n", e.text, why);
		assert(!"a wrong reason");
	}
	assert(o.monotonic.s == 77);
}

static void shifts_are_taken_as_they_are(void)
{
	resolves((struct clock_targets){ 0 }, &host, "+0", "+0");
	resolves((struct clock_targets){ .monotonic.value = { -1, 500000000 },
					 .boottime.value = { 3600, 0 } },
		 &host, "-0.5", "+3600");
}

static void readings_are_counted_from_the_clock(void)
{
	struct clock_target zero = { .aim = CLOCK_READS };
	struct clock_target day = { .aim = CLOCK_READS, .value = { 86400, 0 } };

	resolves((struct clock_targets){ zero, zero }, &host, "-900.25", "-1000.25");
	resolves((struct clock_targets){ day, zero }, &host, "+85499.75", "-1000.25");
}

static void a_nested_caller_counts_from_its_own_clocks(void)
{
	struct clock_target zero = { .aim = CLOCK_READS };

	resolves((struct clock_targets){ 0 }, &nested, "+5000", "-7.5");
	resolves((struct clock_targets){ .boottime.value = { 60, 0 } }, &nested, "+5000", "+52.5");
	resolves((struct clock_targets){ zero, zero }, &nested, "-900.25", "-1000.25");
}

static void out_of_bounds_is_refused_with_the_range_of_this_moment(void)
{
	struct clock_targets lowest = { .monotonic.value = { -901, 750000000 } };
	struct clock_targets t = { .boottime.value = { -1001, 0 } };

	resolves(lowest, &host, "-900.25", "+0");
	refuses(t, &host,
		"boottime -1001 would start the clock below zero; allowed on this host at this "
		"moment: -1000.25 to +4611685017.75");
	t = (struct clock_targets){ .monotonic.value = { -901, 749999999 } };
	refuses(t, &host,
		"monotonic -900.250000001 would start the clock below zero; allowed on this host "
		"at "
		"this moment: -900.25 to +4611685117.75");
	t = (struct clock_targets){ .monotonic = { CLOCK_READS, { 4611686019, 0 } } };
	refuses(t, &host,
		"monotonic +4611686019 would start the clock beyond 146 years; allowed on this "
		"host "
		"at this moment: +0 to +4611686018");
	t = (struct clock_targets){ .monotonic.value = { 9223372036, 0 } };
	refuses(t, &nested,
		"monotonic +9223372036 would start the clock beyond 146 years; allowed on this "
		"host "
		"at this moment: -5900.25 to +4611680117.75");
}

static void a_raw_clock_below_zero_is_seen(void)
{
	struct clock_offsets o = { .monotonic = { -901, 750000000 } };
	struct clock_offset start;

	assert(clock_raw_starts_below_zero(&o, &host, &start));
	assert(start.s == -1 && start.ns == 760000000);           /* -0.24 s */
	assert(clock_raw_starts_below_zero(&o, &nested, &start)); /* offsets are absolute */
	o.monotonic = (struct clock_offset){ -900, 0 };
	assert(!clock_raw_starts_below_zero(&o, &host, &start));
}

int main(void)
{
	shifts_are_taken_as_they_are();
	readings_are_counted_from_the_clock();
	a_nested_caller_counts_from_its_own_clocks();
	out_of_bounds_is_refused_with_the_range_of_this_moment();
	a_raw_clock_below_zero_is_seen();
	return 0;
}
