/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_main.c - timens-oci: from the words of an engine to a command and its exit status */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/output.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/oci_options.h"
#include "front/self_copy.h"

enum { EXIT_FAILED = 1, EXIT_EXEC_FAILED = 255 };

static const struct oci_command {
	const char *name, *words, *help;
	int (*run)(struct oci_call *call, struct err *e);
	bool makes_processes; /* inside, where our own program file must not be within reach */
} commands[] = {
	{ "create", "[--bundle DIR] ID", "make a container and wait for start", oci_create, true },
	{ "start", "ID", "run the program of a made container", oci_start, false },
	{ "state", "ID", "print the state as JSON", oci_state, false },
	{ "kill", "[--all] ID [SIGNAL]", "send a signal, SIGTERM", oci_kill, false },
	{ "delete", "[--force] ID", "remove what is left of a container", oci_delete, false },
	{ "run", "[--bundle DIR] ID", "create, start, wait and delete", oci_run, true },
	{ "exec", "[--process FILE] ID [ARG...]", "one more process inside", oci_exec, true },
	{ "list", "[--format table|json] [--quiet]", "all containers of this root", oci_list,
	  false },
	{ "ps", "[--format table|json] ID", "the processes inside", oci_ps, false },
	{ "pause", "ID", "freeze all processes", oci_pause, false },
	{ "resume", "ID", "thaw them", oci_resume, false },
	{ "update", "[--resources FILE|-] ID", "change limits", oci_update, false },
	{ "events", "[--stats] ID", "print the use of resources as JSON", oci_events, false },
	{ "features", "", "print what is supported as JSON", oci_features, false },
	{ "spec", "[--bundle DIR] [--rootless]", "write a config.json to start from", oci_spec,
	  false },
	{ "patch-config", "[--bundle DIR]", "clocks into a config.json, for other runtimes",
	  oci_patch_config, false },
};

static const struct oci_command *find_command(const char *word)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, word) == 0)
			return &commands[i];
	return NULL;
}

static void refuse_command(const char *word, struct err *e)
{
	(void)err_set(e, ENOTSUP, "command '%s' is not supported", word);
	if (strcmp(word, "checkpoint") == 0 || strcmp(word, "restore") == 0)
		(void)err_hint(e, "CRIU itself can dump the processes, time namespaces included: "
				  "criu dump --tree PID, with the pid that state prints");
}

static void print_help(void)
{
	puts("usage: timens-oci [OPTIONS] COMMAND [OPTIONS] [ID] [ARG...]\n"
	     "An OCI runtime that gives containers clocks of their own; for engines.\n");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		printf("  %-13s%-34s%s\n", commands[i].name, commands[i].words, commands[i].help);
	puts("\nfor all: --root DIR  --log FILE  --log-format text|json\n"
	     "         --cgroup-manager cgroupfs|disabled\n"
	     "clocks:  --offset D  --boottime D  --monotonic D  --uptime D|near:NAME-D|random\n"
	     "         --timeline KEY  --timeline-mode pause|wall  --timelines DIR\n"
	     "         (below linux.timeOffsets and the annotations run.timens.* in rank)\n"
	     "All else is in timens-oci(1).");
}

/* Reads all words.  Returns the command, NULL when --help or --version was served or on error. */
static const struct oci_command *read_words(char **argv, struct oci_call *call, struct err *e)
{
	const struct oci_command *command = NULL;
	bool only_words = false;

	for (; *argv != NULL; argv++) {
		char *word = *argv;

		if (only_words || word[0] != '-' || word[1] == '\0') {
			if (command == NULL) {
				command = find_command(word);
				if (command == NULL) {
					refuse_command(word, e);
					return NULL;
				}
				continue;
			}
			call->words[call->word_count++] = word;
			/* What follows the id belongs to the program. */
			only_words |= command->run == oci_exec;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			only_words = true;
			continue;
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			print_help();
			if (output_finish(e) == 0)
				exit(0);
			return NULL;
		}
		if (strcmp(word, "--version") == 0 || strcmp(word, "-v") == 0) {
			puts("timens-oci version " VERSION "\nspec: 1.2.0");
			if (output_finish(e) == 0)
				exit(0);
			return NULL;
		}
		if (oci_option_read(&argv, command != NULL ? command->name : NULL, call, e) < 0)
			return NULL;
	}
	if (command == NULL)
		(void)err_set(e, EINVAL, "no command; see timens-oci --help");
	return command;
}

/* Engines search the texts of errors for the system's own words and draw conclusions on the
 * program that they wanted to run: only errors that are about it may have them. */
static const char *cause_of(const struct err *e)
{
	if (strcmp(e->step, "program") != 0 && strcmp(e->step, "exec") != 0) {
		if (e->code == ENOENT)
			return "it is not there";
		if (e->code == EACCES)
			return "no access";
		if (e->code == EPERM)
			return "not allowed here";
	}
	return strerror(e->code);
}

static void log_failure(const struct oci_call *call, const char *line)
{
	autoclose int fd = open(call->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	bool as_json = call->log_format != NULL && strcmp(call->log_format, "json") == 0;
	struct timespec now = { 0 };
	struct tm parts;
	char stamp[32];
	struct json *o;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	(void)gmtime_r(&now.tv_sec, &parts);
	(void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts);
	if (fd < 0)
		return; /* it is on standard error as well */
	if (!as_json) {
		(void)dprintf(fd, "time=\"%s\" level=error msg=\"%s\"\n", stamp, line);
		return;
	}
	o = doc_new_object();
	doc_set_text(o, "level", "error");
	doc_set_text(o, "msg", line);
	doc_set_text(o, "time", stamp);
	autofree char *text = doc_format(o, 0);
	if (text != NULL)
		(void)dprintf(fd, "%s", text);
}

static int fail(const struct oci_call *call, const struct oci_command *command, const struct err *e)
{
	char line[sizeof *e + 64];

	snprintf(line, sizeof line, "%s: %s: %s",
		 e->step[0] != '\0' ? e->step
		 : command != NULL  ? command->name
				    : "command line",
		 e->text, cause_of(e));
	if (call->log != NULL)
		log_failure(call, line);
	fprintf(stderr, "timens-oci: %s\n", line);
	if (e->hint[0] != '\0')
		fprintf(stderr, "hint: %s\n", e->hint);
	return command != NULL && command->run == oci_exec ? EXIT_EXEC_FAILED : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static struct oci_call call; /* large, and reachable to the end */
	const struct oci_command *command;
	struct err e = { 0 };
	int r = 0;

	call.words = calloc((size_t)argc + 1, sizeof *call.words);
	if (call.words == NULL || argc < 1 || getauxval(AT_SECURE) != 0) {
		(void)err_set(&e, EPERM, "this program must not be setuid or have capabilities");
		return fail(&call, NULL, &e);
	}
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the status of children from us */
	command = read_words(argv + 1, &call, &e);
	if (command != NULL && command->makes_processes)
		r = self_copy_enter(argv, &e);
	if (command == NULL || r < 0)
		return fail(&call, command, &e);
	r = command->run(&call, &e);
	if (r >= 0 && output_finish(&e) < 0)
		r = -e.code;
	return r < 0 ? fail(&call, command, &e) : r;
}
