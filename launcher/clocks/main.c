/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - timens-clocks: look at the clocks of a container, and prove them */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/output.h"
#include "base/text.h"
#include "clocks/find.h"
#include "clocks/show.h"
#include "clocks/verify.h"
#include "engine/journal.h"

enum { EXIT_DISAGREES = 1, EXIT_FAILED = 2 };

struct wishes {
	pid_t pid;
	const char *container;
	bool json, watch, verify, help, version;
};

static int print_failure(const struct err *e)
{
	fprintf(stderr, "timens-clocks: %s%s%s: %s\n", e->step, e->step[0] != '\0' ? ": " : "",
		e->text, strerror(e->code));
	if (e->hint[0] != '\0')
		fprintf(stderr, "hint: %s\n", e->hint);
	return EXIT_FAILED;
}

static void print_help(void)
{
	puts("usage: timens-clocks [--pid P | --container NAME] [--json] [--watch | --verify]\n"
	     "       timens-clocks [--json] timeline FILE\n"
	     "Shows every clock on the host and inside a container, and proves that all that "
	     "reads\n"
	     "or waits for a clock agrees.  All else is in timens-clocks(1).");
}

static void print_reading(const char *name, struct clock_offset reading)
{
	char exact[CLOCK_OFFSET_TEXT], human[CLOCK_OFFSET_TEXT];

	printf("%-21s %s s (%s)\n", name, clock_offset_format(reading, exact) + 1,
	       clock_offset_human(reading, human));
}

static int show_timeline(const char *path, bool json, struct err *e)
{
	struct timeline_entry t;
	char date[32] = "", text[6][CLOCK_OFFSET_TEXT];
	bool in_use;
	int r = journal_read(path, &t, &in_use, e);

	if (r < 0)
		return r;
	if (json) {
		printf("{\"in_use\": %s, \"state\": \"%s\", \"starts\": %" PRIu64
		       ", \"boot_id\": \"%s\", \"realtime\": %s, \"monotonic\": %s, \"boottime\": "
		       "%s, "
		       "\"reserved_monotonic\": %s, \"reserved_boottime\": %s}\n",
		       in_use ? "true" : "false", t.running ? "running" : "stopped", t.starts,
		       t.host.boot_id, clock_offset_format(t.host.realtime, text[0]) + 1,
		       clock_offset_format(t.inside.monotonic, text[1]) + 1,
		       clock_offset_format(t.inside.boottime, text[2]) + 1,
		       clock_offset_format(t.reserved.monotonic, text[3]) + 1,
		       clock_offset_format(t.reserved.boottime, text[4]) + 1);
		return 0;
	}
	(void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ",
		       gmtime(&(time_t){ t.host.realtime.s }));
	printf("%-21s %s%s\n", "state", t.running ? "running" : "stopped",
	       t.running && !in_use ? ", but nobody holds it: crashed" : "");
	printf("%-21s %" PRIu64 "\n%-21s %s on the host booted as %s\n", "starts", t.starts,
	       "written", date, t.host.boot_id);
	print_reading("CLOCK_MONOTONIC", t.inside.monotonic);
	print_reading("CLOCK_BOOTTIME", t.inside.boottime);
	if (t.running) {
		print_reading("reserved, monotonic", t.reserved.monotonic);
		print_reading("reserved, boottime", t.reserved.boottime);
	}
	return 0;
}

static int read_options(int argc, char **argv, struct wishes *w, struct err *e)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "container", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "watch", no_argument, NULL, 'w' },
		{ "verify", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t number;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			if (!text_to_number(optarg, INT32_MAX, &number) || number == 0)
				return err_set(e, EINVAL, "--pid '%s' is not a process id", optarg);
			w->pid = (pid_t)number;
			break;
		case 'c':
			w->container = optarg;
			break;
		case 'j':
			w->json = true;
			break;
		case 'w':
			w->watch = true;
			break;
		case 'v':
			w->verify = true;
			break;
		case 'h':
			w->help = true;
			break;
		case 'V':
			w->version = true;
			break;
		default:
			(void)err_set(e, EINVAL, "'%s' is unknown or lacks its value",
				      argv[optind - 1]);
			return err_hint(e, "timens-clocks --help lists all options");
		}
	}
	if (w->pid != 0 && w->container != NULL)
		return err_set(e, EINVAL, "--pid and --container exclude each other");
	if (w->watch && w->verify)
		return err_set(e, EINVAL, "--watch and --verify exclude each other");
	return w->container != NULL ? clocks_find(w->container, &w->pid, e) : 0;
}

static int watch(const struct wishes *w, struct err *e)
{
	for (;;) {
		int r;

		if (!w->json)
			fputs("\033[H\033[J", stdout); /* home, and clear: console_codes(4) */
		r = clocks_show(w->pid, w->json, e);
		if (r < 0)
			return r;
		(void)nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
}

int main(int argc, char **argv)
{
	struct wishes w = { 0 };
	struct err e = { 0 };
	int r = read_options(argc, argv, &w, &e);

	if (r < 0)
		return print_failure(&e);
	if (w.help) {
		print_help();
	} else if (w.version) {
		puts("timens-clocks " VERSION);
	} else if (optind + 2 == argc && strcmp(argv[optind], "timeline") == 0) {
		r = show_timeline(argv[optind + 1], w.json, &e);
		(void)snprintf(e.step, sizeof e.step, "timeline");
	} else if (optind + 1 == argc && strcmp(argv[optind], "timeline") == 0) {
		r = err_set(&e, EINVAL, "timeline needs FILE");
	} else if (optind < argc) {
		r = err_set(&e, EINVAL, "'%s' is not a command", argv[optind]);
		(void)err_hint(&e, "timens-clocks --help shows what there is");
	} else if (w.verify) {
		r = clocks_verify(w.pid, w.json, &e);
	} else {
		r = w.watch ? watch(&w, &e) : clocks_show(w.pid, w.json, &e);
	}
	if (r < 0 || output_finish(&e) < 0)
		return print_failure(&e);
	return r > 0 ? EXIT_DISAGREES : 0;
}
