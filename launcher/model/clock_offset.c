/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/clock_offset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define NS_PER_S INT64_C(1000000000)
#define MAX_NS ((__int128)INT64_MAX) /* ktime_t, include/linux/ktime.h */

struct unit {
	const char *name;
	int64_t ns;
};

/* systemd.time(7), without the units that have no fixed length. */
static const struct unit units[] = {
	{ "w", 604800 * NS_PER_S },
	{ "week", 604800 * NS_PER_S },
	{ "weeks", 604800 * NS_PER_S },
	{ "d", 86400 * NS_PER_S },
	{ "day", 86400 * NS_PER_S },
	{ "days", 86400 * NS_PER_S },
	{ "h", 3600 * NS_PER_S },
	{ "hr", 3600 * NS_PER_S },
	{ "hour", 3600 * NS_PER_S },
	{ "hours", 3600 * NS_PER_S },
	{ "m", 60 * NS_PER_S },
	{ "min", 60 * NS_PER_S },
	{ "minute", 60 * NS_PER_S },
	{ "minutes", 60 * NS_PER_S },
	{ "s", NS_PER_S },
	{ "sec", NS_PER_S },
	{ "second", NS_PER_S },
	{ "seconds", NS_PER_S },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "\xc2\xb5s", 1000 },
	{ "\xce\xbcs", 1000 },
	{ "ns", 1 },
	{ "nsec", 1 },
};
static const struct unit iso_date_units[] = {
	{ "W", 604800 * NS_PER_S },
	{ "D", 86400 * NS_PER_S },
};
static const struct unit iso_time_units[] = {
	{ "H", 3600 * NS_PER_S },
	{ "M", 60 * NS_PER_S },
	{ "S", NS_PER_S },
};
#define COUNT(array) (sizeof array / sizeof *array)

/* What is being read, and what the whole text was, for messages. */
struct reader {
	const char *at, *whole;
	struct err *e;
	__int128 sum_ns;
	int64_t last_unit_ns; /* of the part before, 0 when there was none */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int refuse(struct reader *r, const char *why)
{
	(void)err_set(r->e, EINVAL, "'%.60s' %s", r->whole, why);
	return err_hint(r->e,
			"a duration is +3600, -30, 1.5, 1h30m, 2d 3h, 500ms or P1DT2H; a bare "
			"number is seconds");
}

/* whole + fraction / scale, read from 2.50 as 2 + 50 / 100.  18 digits each keep every product
 * with a unit (at most 6.1e14 ns) below 2^127. */
struct number {
	__int128 whole, fraction, scale;
};

enum { MAX_DIGITS = 18 };

static int read_digits(struct reader *r, __int128 *ret_value, __int128 *ret_scale)
{
	__int128 value = 0, scale = 1;

	if (!is_digit(*r->at))
		return refuse(r, "is not a duration");
	for (; is_digit(*r->at); r->at++) {
		scale *= 10;
		value = value * 10 + (*r->at - '0');
		if (scale > (__int128)1000000000 * 1000000000) /* 10^MAX_DIGITS */
			return refuse(r, "has more than 18 digits in a row");
	}
	*ret_value = value;
	*ret_scale = scale;
	return 0;
}

static int read_number(struct reader *r, struct number *ret_number)
{
	struct number n = { .scale = 1 };
	__int128 unused;
	int x;

	x = read_digits(r, &n.whole, &unused);
	if (x == 0 && *r->at == '.') {
		r->at++;
		x = read_digits(r, &n.fraction, &n.scale);
	}
	*ret_number = n;
	return x;
}

static int add_part(struct reader *r, struct number n, int64_t unit_ns)
{
	if (r->last_unit_ns != 0 && unit_ns >= r->last_unit_ns)
		return refuse(r, "must name its units from large to small, each once");
	r->last_unit_ns = unit_ns;

	if (n.fraction * unit_ns % n.scale != 0)
		return refuse(r, "is finer than a nanosecond");
	r->sum_ns += n.whole * unit_ns + n.fraction * unit_ns / n.scale;
	if (r->sum_ns > MAX_NS)
		return err_set(r->e, ERANGE, "'%.60s' is beyond 292 years, where no clock counts",
			       r->whole);
	return 0;
}

static void skip_spaces(struct reader *r)
{
	while (*r->at == ' ')
		r->at++;
}

/* The unit whose name is these bytes, NULL if there is none. */
static const struct unit *find_unit(const char *name, size_t length, const struct unit *table,
				    size_t count)
{
	for (const struct unit *u = table; u < table + count; u++)
		if (strlen(u->name) == length && memcmp(name, u->name, length) == 0)
			return u;
	return NULL;
}

static int refuse_unit(struct reader *r)
{
	const char *at = r->at;

	if (*at == 'M') {
		(void)err_set(r->e, EINVAL, "'%.60s' has the ambiguous unit 'M'", r->whole);
		return err_hint(r->e, "write m for minutes; months have no fixed length");
	}
	if (*at == 'y' || *at == 'Y' || strncmp(at, "mo", 2) == 0) {
		(void)err_set(r->e, EINVAL, "'%.60s' has a unit without a fixed length", r->whole);
		return err_hint(r->e, "write days: 30d, 365d");
	}
	if (*at == '\0' || is_digit(*at))
		return refuse(r, "has a part without a unit");
	return refuse(r, "is not a duration");
}

/* 1h30m, 2d 3h, 500ms; or a bare number, which is seconds. */
static int read_parts(struct reader *r)
{
	for (bool first = true; first || *r->at != '\0'; first = false) {
		const struct unit *unit;
		struct number n;
		int x;

		x = read_number(r, &n);
		if (x < 0)
			return x;
		if (first && *r->at == '\0')
			return add_part(r, n, NS_PER_S);
		skip_spaces(r);
		unit = find_unit(r->at, strcspn(r->at, " +-.,:0123456789"), units, COUNT(units));
		if (!unit)
			return refuse_unit(r);
		r->at += strlen(unit->name);
		x = add_part(r, n, unit->ns);
		if (x < 0)
			return x;
		if (is_digit(r->at[strspn(r->at, " ")]))
			skip_spaces(r);
	}
	return 0;
}

/* P1DT2H, after the P. */
static int read_iso_parts(struct reader *r)
{
	bool in_time = false, complete = false;

	while (*r->at != '\0') {
		const struct unit *unit;
		struct number n;
		int x;

		if (!in_time && *r->at == 'T') {
			in_time = true;
			complete = false; /* a part must follow the T */
			r->at++;
			continue;
		}
		x = read_number(r, &n);
		if (x < 0)
			return x;
		unit = in_time ? find_unit(r->at, 1, iso_time_units, COUNT(iso_time_units))
			       : find_unit(r->at, 1, iso_date_units, COUNT(iso_date_units));
		if (!unit)
			return refuse_unit(r);
		r->at++;
		x = add_part(r, n, unit->ns);
		if (x < 0)
			return x;
		complete = true;
	}
	return complete ? 0 : refuse(r, "is not a duration");
}

/* 2038-01-19, 03:14, @2147483647, P2038-01-19, tomorrow: what date(1) or systemd would take. */
static bool looks_like_a_date(const char *text)
{
	static const char *const words[] = { "now", "today", "tomorrow", "yesterday" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	if (text[0] == '@' || strchr(text, ':'))
		return true;
	for (const char *c = text; *c != '\0'; c++)
		if (is_digit(c[0]) && (c[1] == '-' || c[1] == '/') && is_digit(c[2]))
			return true;
	return false;
}

int clock_offset_parse(const char *text, struct clock_offset *ret_offset, struct err *e)
{
	struct reader r = { .at = text, .whole = text, .e = e };
	bool negative = text[0] == '-';
	int x;

	if (looks_like_a_date(text)) {
		(void)err_set(e, EINVAL, "'%.60s' is a date, not a duration", text);
		return err_hint(e,
				"the kernel's time namespace does not cover CLOCK_REALTIME: dates "
				"inside are always the host's");
	}
	if (text[0] == '+' || text[0] == '-')
		r.at++;
	if (*r.at == 'P') {
		r.at++;
		x = read_iso_parts(&r);
	} else {
		x = read_parts(&r);
	}
	if (x < 0)
		return x;
	*ret_offset = clock_offset_from_ns(negative ? -r.sum_ns : r.sum_ns);
	return 0;
}

bool clock_offsets_parse(const char *lines, struct clock_offsets *ret_offsets)
{
	struct clock_offsets o;

	if (sscanf(lines, "monotonic %" SCNd64 " %" SCNu32 " boottime %" SCNd64 " %" SCNu32,
		   &o.monotonic.s, &o.monotonic.ns, &o.boottime.s, &o.boottime.ns) != 4)
		return false;
	*ret_offsets = o;
	return true;
}

struct clock_offset clock_offset_from_ns(__int128 ns)
{
	__int128 s = ns / NS_PER_S, rest = ns % NS_PER_S;

	if (rest < 0) { /* C rounds towards zero, a clock counts upwards */
		rest += NS_PER_S;
		s--;
	}
	return (struct clock_offset){ .s = (int64_t)s, .ns = (uint32_t)rest };
}

__int128 clock_offset_to_ns(struct clock_offset o)
{
	return (__int128)o.s * NS_PER_S + o.ns;
}

struct clock_offset clock_offset_add(struct clock_offset a, struct clock_offset b)
{
	return clock_offset_from_ns(clock_offset_to_ns(a) + clock_offset_to_ns(b));
}

struct clock_offset clock_offset_sub(struct clock_offset a, struct clock_offset b)
{
	return clock_offset_from_ns(clock_offset_to_ns(a) - clock_offset_to_ns(b));
}

/* The sign apart, because -0.5 s is { -1, 500000000 }. */
static struct clock_offset magnitude(struct clock_offset o)
{
	return o.s < 0 ? clock_offset_from_ns(-clock_offset_to_ns(o)) : o;
}

const char *clock_offset_format(struct clock_offset o, char text[static CLOCK_OFFSET_TEXT])
{
	struct clock_offset m = magnitude(o);
	int n = snprintf(text, CLOCK_OFFSET_TEXT, "%c%" PRId64 ".%09" PRIu32, o.s < 0 ? '-' : '+',
			 m.s, m.ns);

	while (text[n - 1] == '0')
		text[--n] = '\0';
	if (text[n - 1] == '.')
		text[--n] = '\0';
	return text;
}

const char *clock_offset_human(struct clock_offset o, char text[static CLOCK_OFFSET_TEXT])
{
	struct clock_offset m = magnitude(o);
	const char *sign = o.s < 0 ? "-" : "";
	int64_t days = m.s / 86400;
	int hours = (int)(m.s / 3600 % 24), minutes = (int)(m.s / 60 % 60), s = (int)(m.s % 60);
	unsigned ms = m.ns / 1000000;

	if (days > 0)
		(void)snprintf(text, CLOCK_OFFSET_TEXT, "%s%" PRId64 "d %dh %dm %d.%03us", sign,
			       days, hours, minutes, s, ms);
	else if (m.s >= 3600)
		(void)snprintf(text, CLOCK_OFFSET_TEXT, "%s%dh %dm %d.%03us", sign, hours, minutes,
			       s, ms);
	else if (m.s >= 60)
		(void)snprintf(text, CLOCK_OFFSET_TEXT, "%s%dm %d.%03us", sign, minutes, s, ms);
	else
		(void)snprintf(text, CLOCK_OFFSET_TEXT, "%s%d.%03us", sign, s, ms);
	return text;
}
