/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * timens-bench - measure what reading and setting clocks costs in the process that runs it
 *
 * It knows nothing of namespaces: timens-run puts it into one, and so what measures does not change
 * with what is measured.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "problem.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "measure", command_measure, "run metrics and print one record for each" },
	{ "zygote", command_zygote,
	  "stay, and run one `measure` in a fresh process per line read" },
	{ "list", command_list, "say what can be measured, and how" },
	{ "calibrate", command_calibrate, "say what a tick is worth, and what batches to ask for" },
	{ "loops", command_loops,
	  "lab: millions of gettimeofday() by each route, as time(1) counts" },
	{ "warp", command_warp, "lab: do clocks go backwards from one CPU to another?" },
	{ "tsc-clock", command_tsc_clock, "lab: a clock on the counter, its cost and its error" },
	{ "vdso-used", command_vdso_used, "lab: which readings of the time stay in user space" },
};

#define COMMANDS (sizeof commands / sizeof *commands)

int command_usage(const char *command, const char *problem, const char *word)
{
	fprintf(stderr, "timens-bench: %s: %s: %s\nhint: timens-bench --help\n", command, problem,
		word);
	return EXIT_USAGE;
}

static int help(FILE *out)
{
	fputs("usage: timens-bench COMMAND [OPTION...]\n\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\noptions of measure:\n"
	      "  --metrics paper|all|NAME,...  what to run, in this order (default: paper)\n"
	      "  --calls NAME=N,...            calls per record\n"
	      "  --batch NAME=N,...            calls between two readings of the counter\n"
	      "  --cpu N                       stay on this CPU\n"
	      "  --block N                     number to put into the records\n"
	      "  --repeat N                    all of it N times, in this one process\n"
	      "  --turns N                     wait on standard input before every N batches\n"
	      "  --ticks SOURCE                rdtscp, cntvct or clock_monotonic_raw\n"
	      "  --table, --json               for people or for programs (default: by terminal)\n"
	      "\nSee timens-bench(1).\n",
	      out);
	return out == stdout ? 0 : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (argc < 2)
		return help(stderr);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return help(stdout);
	if (strcmp(word, "--version") == 0) {
		puts("timens-bench " VERSION);
		return 0;
	}
	if (strcmp(word, "--list") == 0)
		word = "list";
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(word, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "timens-bench: '%s' is not a command\nhint: timens-bench --help\n", word);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct problem p;
	int status = run(argc, argv);

	if (status != 0 || (fflush(stdout) == 0 && !ferror(stdout)))
		return status;
	(void)problem_set(&p, errno != 0 ? errno : EIO, NULL, "cannot write to standard output");
	problem_print(&p);
	return 1;
}
