/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vdso-used - which readings of the time stay in user space
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "commands.h"
#include "lab/vdso_probe.h"
#include "lab/watch.h"

static const char *answer_name(enum answer a)
{
	static const char *const names[] = {
		[ANSWER_MISSING] = "missing",
		[ANSWER_USER_SPACE] = "user_space",
		[ANSWER_SYSTEM_CALL] = "system_call",
		[ANSWER_ERROR] = "error",
	};

	return names[a];
}

static void print_string(FILE *out, const char *key, const char *value)
{
	if (value)
		fprintf(out, ",\"%s\":\"%s\"", key, value);
	else
		fprintf(out, ",\"%s\":null", key);
}

static int probe(FILE *out, struct problem *p)
{
	struct probe probes[PROBES_MAX];
	const int n = vdso_probe_all(probes, p);

	for (int i = 0; i < n; i++) {
		fprintf(out, "{\"vdso_used\":\"%s\"", probes[i].function);
		print_string(out, "clock", probes[i].clock);
		print_string(out, "route", route_name(probes[i].route));
		print_string(out, "answer", answer_name(probes[i].answer));
		print_string(out, "reason", vdso_probe_reason(&probes[i]));
		fputs("}\n", out);
	}
	return n < 0 ? -1 : 0;
}

/* Returns the exit status of the command, or -1 with *p filled. */
static int watch(char **argv, FILE *out, struct problem *p)
{
	struct watched w;

	if (watch_command(argv, &w, p) < 0)
		return -1;
	for (int i = 0; i < w.count; i++) {
		const struct tally *t = &w.tallies[i];

		fprintf(out, "{\"system_call\":\"%s\"", t->function);
		print_string(out, "clock", t->has_clock ? vdso_clock_name(t->clock) : NULL);
		if (t->has_clock)
			fprintf(out, ",\"clock_id\":%d", t->clock);
		fprintf(out, ",\"calls\":%" PRIu64 "}\n", t->calls);
	}
	return WIFSIGNALED(w.status) ? 128 + WTERMSIG(w.status) : WEXITSTATUS(w.status);
}

int command_vdso_used(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	FILE *out = stdout;
	struct problem p;
	int c, status;

	/* "+": the first word that is not ours begins the command. */
	while ((c = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (c != 'o')
			return EXIT_USAGE; /* getopt has said why */
		out = fopen(optarg, "we");
		if (!out) {
			fprintf(stderr, "timens-bench: vdso-used: %s: %s\n", optarg,
				strerror(errno));
			return EXIT_USAGE;
		}
	}
	status = optind < argc ? watch(argv + optind, out, &p) : probe(out, &p);
	if (fflush(out) != 0 && status >= 0)
		status = problem_set(&p, errno, NULL, "vdso-used: cannot write");
	if (out != stdout)
		(void)fclose(out);
	if (status < 0) {
		problem_print(&p);
		return EXIT_FAILED;
	}
	return status;
}
