/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define MAGIC "timens-timeline "
#define VERSION "1"

static struct clock_offset later(struct clock_offset a, struct clock_offset b)
{
	return clock_offset_to_ns(a) > clock_offset_to_ns(b) ? a : b;
}

/* How long the host has slept since `last` was written, if it has not been booted since then:
 * CLOCK_BOOTTIME went on meanwhile, and the reserve does not cover it. */
static struct clock_offset slept_since(const struct timeline_moment *last,
				       const struct timeline_moment *now)
{
	struct clock_offset zero = { 0 }, then_asleep, now_asleep;

	if (strcmp(last->boot_id, now->boot_id) != 0)
		return zero;
	then_asleep = clock_offset_sub(last->clocks.boottime, last->clocks.monotonic);
	now_asleep = clock_offset_sub(now->clocks.boottime, now->clocks.monotonic);
	return later(zero, clock_offset_sub(now_asleep, then_asleep));
}

struct clock_offsets timeline_resume(const struct timeline_entry *last, enum timeline_mode mode,
				     const struct timeline_moment *now)
{
	struct clock_offsets start = last->reserved;

	if (last->running)
		start.boottime = clock_offset_add(start.boottime, slept_since(&last->host, now));
	if (mode == TIMELINE_WALL) {
		/* A host clock that was set back must not turn ours back: later() holds it. */
		struct clock_offset passed = clock_offset_sub(now->realtime, last->host.realtime);

		start.monotonic =
			later(start.monotonic, clock_offset_add(last->inside.monotonic, passed));
		start.boottime =
			later(start.boottime, clock_offset_add(last->inside.boottime, passed));
	}
	return start;
}

struct timeline_entry timeline_record(const struct clock_offsets *shift, uint64_t starts,
				      bool running, const struct timeline_moment *now)
{
	struct clock_offset reserve = { .s = running ? TIMELINE_RESERVE_S : 0 };
	struct timeline_entry entry = {
		.running = running,
		.starts = starts,
		.host = *now,
		.inside.monotonic = clock_offset_add(now->clocks.monotonic, shift->monotonic),
		.inside.boottime = clock_offset_add(now->clocks.boottime, shift->boottime),
	};

	entry.reserved.monotonic = clock_offset_add(entry.inside.monotonic, reserve);
	entry.reserved.boottime = clock_offset_add(entry.inside.boottime, reserve);
	return entry;
}

/* CRC-32 as in zlib, gzip and Python's zlib.crc32(). */
static uint32_t checksum(const char *text, size_t length)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		crc ^= (uint8_t)text[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

/* The lines that hold a reading, in the order of the file. */
static const struct {
	const char *key;
	size_t offset;
} readings[] = {
	{ "realtime", offsetof(struct timeline_entry, host.realtime) },
	{ "host-monotonic", offsetof(struct timeline_entry, host.clocks.monotonic) },
	{ "host-boottime", offsetof(struct timeline_entry, host.clocks.boottime) },
	{ "monotonic", offsetof(struct timeline_entry, inside.monotonic) },
	{ "boottime", offsetof(struct timeline_entry, inside.boottime) },
	{ "reserved-monotonic", offsetof(struct timeline_entry, reserved.monotonic) },
	{ "reserved-boottime", offsetof(struct timeline_entry, reserved.boottime) },
};
enum { READINGS = sizeof readings / sizeof *readings };

size_t timeline_format(const struct timeline_entry *entry, char text[static TIMELINE_TEXT_SIZE])
{
	int n;

	n = snprintf(text, TIMELINE_TEXT_SIZE, "%s%s\nstate %s\nstarts %" PRIu64 "\nboot-id %s\n",
		     MAGIC, VERSION, entry->running ? "running" : "stopped", entry->starts,
		     entry->host.boot_id);
	for (size_t i = 0; i < READINGS; i++) {
		const void *reading = (const char *)entry + readings[i].offset;
		char value[CLOCK_OFFSET_TEXT];

		clock_offset_format(*(const struct clock_offset *)reading, value);
		n += snprintf(text + n, TIMELINE_TEXT_SIZE - (size_t)n, "%s %s\n", readings[i].key,
			      value[0] == '+' ? value + 1 : value);
	}
	n += snprintf(text + n, TIMELINE_TEXT_SIZE - (size_t)n, "crc32 %08" PRIx32 "\n",
		      checksum(text, (size_t)n));
	return (size_t)n;
}

/* Takes the line "KEY VALUE\n" at *at; false if another line stands there. */
static bool take_line(const char **at, const char *key, char *ret_value, size_t size)
{
	size_t key_length = strlen(key), length = strcspn(*at, "\n");

	if (strncmp(*at, key, key_length) != 0 || (*at)[key_length] != ' ' ||
	    (*at)[length] != '\n' || length - key_length - 1 >= size)
		return false;
	memcpy(ret_value, *at + key_length + 1, length - key_length - 1);
	ret_value[length - key_length - 1] = '\0';
	*at += length + 1;
	return true;
}

static const char *parse_lines(const char *at, struct timeline_entry *entry)
{
	char value[64];
	struct err unused;

	if (!take_line(&at, "state", value, sizeof value))
		return "state";
	entry->running = strcmp(value, "running") == 0;
	if (!take_line(&at, "starts", value, sizeof value))
		return "starts";
	entry->starts = strtoull(value, NULL, 10);
	if (!take_line(&at, "boot-id", entry->host.boot_id, sizeof entry->host.boot_id))
		return "boot-id";
	for (size_t i = 0; i < READINGS; i++) {
		void *reading = (char *)entry + readings[i].offset;

		if (!take_line(&at, readings[i].key, value, sizeof value) ||
		    clock_offset_parse(value, reading, &unused) < 0)
			return readings[i].key;
	}
	return NULL;
}

/* For a message: bytes of a file that may be anything must not command a terminal. */
static const char *printable(char *text)
{
	for (char *c = text; c != NULL && *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return text;
}

int timeline_parse(const char *text, size_t length, struct timeline_entry *ret_entry, struct err *e)
{
	struct timeline_entry entry = { 0 };
	char copy[TIMELINE_TEXT_SIZE], again[TIMELINE_TEXT_SIZE];
	const char *wrong, *sum;
	unsigned long stated;

	if (length == 0)
		return err_set(e, EINVAL, "the file is empty, not a timeline");
	if (length < strlen(MAGIC) || memcmp(text, MAGIC, strlen(MAGIC)) != 0)
		return err_set(e, EINVAL, "not a timeline: it does not begin with '%s'", MAGIC);
	if (length >= sizeof copy || memchr(text, '\0', length))
		return err_set(e, EINVAL, "damaged: it is longer than a timeline, or not text");
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (strncmp(copy, MAGIC VERSION "\n", strlen(MAGIC VERSION "\n")) != 0)
		return err_set(e, EINVAL, "its format '%.20s' is not the format this program knows",
			       printable(strtok(copy + strlen(MAGIC), "\n")));

	sum = strstr(copy, "\ncrc32 ");
	if (!sum)
		return err_set(e, EINVAL, "damaged: the line 'crc32' is missing");
	stated = strtoul(sum + strlen("\ncrc32 "), NULL, 16);
	if (stated != checksum(copy, (size_t)(sum + 1 - copy)))
		return err_set(e, EINVAL, "damaged: its lines do not give its checksum %08lx",
			       stated);

	wrong = parse_lines(copy + strlen(MAGIC VERSION "\n"), &entry);
	if (wrong)
		return err_set(e, EINVAL, "damaged: the line '%s' is missing or wrong", wrong);
	/* Whatever the reading above was lenient about shows here. */
	if (timeline_format(&entry, again) != length || memcmp(again, copy, length) != 0)
		return err_set(e, EINVAL, "damaged: it is not as this program writes it");
	if (clock_offset_sub(entry.reserved.monotonic, entry.inside.monotonic).s < 0 ||
	    clock_offset_sub(entry.reserved.boottime, entry.inside.boottime).s < 0)
		return err_set(e, EINVAL, "damaged: it reserves time that has passed");
	*ret_entry = entry;
	return 0;
}
