/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A timeline never goes back: thousands of random lives over stops, crashes, lost writes, moves,
 * reboots, suspends and host clocks that are set at will.  Then the file, bit by bit. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/timeline.h"

#define NS INT64_C(1000000000)
#define RESERVE (TIMELINE_RESERVE_S * NS)
enum { HOSTS = 3, LIVES = 3000, EVENTS = 60 };

static uint64_t random_state;

static uint64_t random_below(uint64_t n) /* xorshift64*: the same lives on every machine */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * UINT64_C(2685821657736338717)) % n;
}

struct host {
	int boots;
	int64_t monotonic, boottime, realtime; /* ns */
};

struct world {
	struct host hosts[HOSTS];
	int here; /* where the container is, or was last */
	char disk[TIMELINE_TEXT_SIZE];
	size_t disk_length;

	bool runs;
	uint64_t starts;
	struct clock_offsets shift;
	__int128 lease;   /* the container is ended when its CLOCK_MONOTONIC reads this */
	__int128 seen[2]; /* the latest that anybody inside has read */
	bool clean;       /* the last run was stopped in order, at seen[] */
	int64_t realtime_at_stop;
};

static struct timeline_moment moment(const struct world *w)
{
	const struct host *h = &w->hosts[w->here];
	struct timeline_moment m = {
		.realtime = clock_offset_from_ns(h->realtime),
		.clocks = { clock_offset_from_ns(h->monotonic), clock_offset_from_ns(h->boottime) },
	};

	snprintf(m.boot_id, sizeof m.boot_id, "host-%d-boot-%d", w->here, h->boots);
	return m;
}

static void read_inside(struct world *w)
{
	const struct host *h = &w->hosts[w->here];
	__int128 now[2] = { h->monotonic + clock_offset_to_ns(w->shift.monotonic),
			    h->boottime + clock_offset_to_ns(w->shift.boottime) };

	assert(now[0] >= w->seen[0]); /* the promise */
	assert(now[1] >= w->seen[1]);
	w->seen[0] = now[0];
	w->seen[1] = now[1];
}

static void write_entry(struct world *w, bool running)
{
	struct timeline_moment now = moment(w);
	struct timeline_entry entry = timeline_record(&w->shift, w->starts, running, &now);

	assert(clock_offset_to_ns(entry.reserved.monotonic) -
		       clock_offset_to_ns(entry.inside.monotonic) ==
	       (running ? RESERVE : 0));
	w->disk_length = timeline_format(&entry, w->disk);
	w->lease = clock_offset_to_ns(entry.reserved.monotonic);
}

static void start(struct world *w)
{
	enum timeline_mode mode = random_below(2) ? TIMELINE_WALL : TIMELINE_PAUSE;
	struct timeline_moment now = moment(w);
	struct timeline_entry last;
	struct clock_offsets begin = now.clocks;
	struct err e;

	if (w->disk_length > 0) {
		int64_t passed = w->hosts[w->here].realtime - w->realtime_at_stop;
		__int128 wanted = w->seen[0];

		assert(timeline_parse(w->disk, w->disk_length, &last, &e) == 0);
		begin = timeline_resume(&last, mode, &now);
		if (mode == TIMELINE_WALL && passed > 0)
			wanted += passed;
		if (w->clean) /* then it is exact */
			assert(clock_offset_to_ns(begin.monotonic) == wanted);
		if (mode == TIMELINE_PAUSE) /* a crash costs at most the reserve */
			assert(clock_offset_to_ns(begin.monotonic) <= w->seen[0] + RESERVE);
		if (mode == TIMELINE_PAUSE && strcmp(last.host.boot_id, now.boot_id) != 0)
			assert(clock_offset_to_ns(begin.boottime) <= w->seen[1] + RESERVE);
		w->starts = last.starts;
	}
	w->shift.monotonic = clock_offset_sub(begin.monotonic, now.clocks.monotonic);
	w->shift.boottime = clock_offset_sub(begin.boottime, now.clocks.boottime);
	w->starts++;
	write_entry(w, true);
	w->runs = true;
	w->clean = false;
	read_inside(w);
}

static void stop(struct world *w)
{
	read_inside(w);
	write_entry(w, false);
	w->runs = false;
	w->clean = true;
	w->realtime_at_stop = w->hosts[w->here].realtime;
}

/* Time passes everywhere; inside, until the lease is over. */
static void pass(struct world *w, int64_t ns)
{
	if (w->runs) {
		__int128 left = w->lease - (w->hosts[w->here].monotonic +
					    clock_offset_to_ns(w->shift.monotonic));

		if (ns >= left) { /* nobody has kept the journal: the init ends the container */
			for (int i = 0; i < HOSTS; i++) {
				w->hosts[i].monotonic += (int64_t)left;
				w->hosts[i].boottime += (int64_t)left;
				w->hosts[i].realtime += (int64_t)left;
			}
			ns -= (int64_t)left;
			read_inside(w);
			w->runs = false;
		}
	}
	for (int i = 0; i < HOSTS; i++) {
		w->hosts[i].monotonic += ns;
		w->hosts[i].boottime += ns;
		w->hosts[i].realtime += ns;
	}
	if (w->runs)
		read_inside(w);
}

static void suspend(struct world *w)
{
	int64_t ns = (int64_t)random_below(100000) * NS;
	struct host *h = &w->hosts[w->here];

	h->boottime += ns;
	h->realtime += ns;
	if (!w->runs)
		return;
	read_inside(w);
	/* The launcher writes as soon as the host wakes; or it crashes before that and is started
	 * again on this boot.  Power lost in between is documented as open for CLOCK_BOOTTIME. */
	if (random_below(2)) {
		write_entry(w, true);
	} else {
		w->runs = false;
		start(w);
	}
}

static void reboot(struct world *w)
{
	struct host *h = &w->hosts[w->here];

	w->runs = false;
	h->boots++;
	h->monotonic = (int64_t)random_below(100) * NS;
	h->boottime = h->monotonic + (int64_t)random_below(100) * NS;
}

static void one_event(struct world *w)
{
	switch (random_below(9)) {
	case 0:
		pass(w, (int64_t)random_below((uint64_t)(60 * NS)));
		break;
	case 1:
		pass(w, (int64_t)random_below((uint64_t)(3 * NS)));
		break;
	case 2: /* the journal; or its write is lost, and nothing on disk changes */
		if (w->runs && random_below(4))
			write_entry(w, true);
		break;
	case 3:
		if (w->runs)
			stop(w);
		break;
	case 4: /* SIGKILL of the launcher: the container dies with it */
		w->runs = false;
		break;
	case 5:
		reboot(w);
		break;
	case 6:
		if (!w->runs)
			w->here = (int)random_below(HOSTS);
		break;
	case 7: /* somebody sets the date of a host, by up to a year either way */
		w->hosts[random_below(HOSTS)].realtime +=
			((int64_t)random_below(63072000) - 31536000) * NS;
		break;
	default:
		suspend(w);
	}
	if (!w->runs && random_below(3) == 0)
		start(w);
}

static void no_clock_ever_goes_back(void)
{
	for (int life = 0; life < LIVES; life++) {
		struct world w = { 0 };

		random_state = (uint64_t)life + 1;
		for (int i = 0; i < HOSTS; i++) {
			w.hosts[i].monotonic = (int64_t)random_below(1000000) * NS;
			w.hosts[i].boottime = w.hosts[i].monotonic + (int64_t)random_below(NS);
			w.hosts[i].realtime = (1700000000 + (int64_t)random_below(100000000)) * NS;
		}
		start(&w);
		for (int i = 0; i < EVENTS; i++)
			one_event(&w);
	}
}

static const struct timeline_entry example = {
	.running = true,
	.starts = 3,
	.host = { .boot_id = "0f3c9a52-5d0e-4b0c-8f5e-2f6f1f1f5a11",
		  .realtime = { 1790000000, 123456789 },
		  .clocks = { { 900, 250000000 }, { 1000, 500000000 } } },
	.inside = { { 4294937, 296000000 }, { 4294937, 296000000 } },
	.reserved = { { 4294967, 296000000 }, { 4294967, 296000000 } },
};

static void refuses(const char *text, size_t length, const char *why)
{
	struct timeline_entry entry = { .starts = 77 };
	struct err e = { 0 };

	assert(timeline_parse(text, length, &entry, &e) == -EINVAL && entry.starts == 77);
	if (why && strcmp(e.text, why) != 0) {
		fprintf(stderr, "got    '%s'\nwanted '%s'\n", e.text, why);
		assert(!"a wrong reason");
	}
}

static void the_file_is_text_that_reads_back(void)
{
	char text[TIMELINE_TEXT_SIZE], again[TIMELINE_TEXT_SIZE];
	struct timeline_entry entry;
	struct err e;
	size_t length = timeline_format(&example, text);

	assert(strcmp(text, "timens-timeline 1\n"
			    "state running\n"
			    "starts 3\n"
			    "boot-id 0f3c9a52-5d0e-4b0c-8f5e-2f6f1f1f5a11\n"
			    "realtime 1790000000.123456789\n"
			    "host-monotonic 900.25\n"
			    "host-boottime 1000.5\n"
			    "monotonic 4294937.296\n"
			    "boottime 4294937.296\n"
			    "reserved-monotonic 4294967.296\n"
			    "reserved-boottime 4294967.296\n"
			    "crc32 ba81c091\n") == 0);
	assert(timeline_parse(text, length, &entry, &e) == 0);
	assert(timeline_format(&entry, again) == length && memcmp(text, again, length) == 0);
}

static void any_damage_is_refused(void)
{
	char text[TIMELINE_TEXT_SIZE + 8];
	size_t length = timeline_format(&example, text);

	for (size_t i = 0; i < length * 8; i++) { /* every single bit */
		text[i / 8] ^= (char)(1 << i % 8);
		refuses(text, length, NULL);
		text[i / 8] ^= (char)(1 << i % 8);
	}
	for (size_t i = 0; i < length; i++) /* cut off anywhere */
		refuses(text, i, NULL);
	strcpy(text + length, "\n"); /* or longer */
	refuses(text, length + 1, "damaged: it is not as this program writes it");
}

static void each_refusal_says_why(void)
{
	struct timeline_entry wrong = example;
	char text[TIMELINE_TEXT_SIZE];
	size_t length;

	refuses("", 0, "the file is empty, not a timeline");
	refuses("hello\n", 6, "not a timeline: it does not begin with 'timens-timeline '");
	refuses("timens-timeline \033[2J\xff\n", 22,
		"its format '?[2J?' is not the format this program knows");
	refuses("timens-timeline 2\n", 18, "its format '2' is not the format this program knows");
	refuses("timens-timeline 1\n\0", 19, "damaged: it is longer than a timeline, or not text");
	refuses("timens-timeline 1\n", 18, "damaged: the line 'crc32' is missing");
	length = timeline_format(&example, text);
	text[30] ^= 1;
	refuses(text, length, "damaged: its lines do not give its checksum ba81c091");
	wrong.reserved.monotonic.s = 5;
	length = timeline_format(&wrong, text);
	refuses(text, length, "damaged: it reserves time that has passed");
}

int main(void)
{
	no_clock_ever_goes_back();
	the_file_is_text_that_reads_back();
	any_damage_is_refused();
	each_refusal_says_why();
	return 0;
}
