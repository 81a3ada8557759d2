/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A zygote enters the namespaces once and stays; for every line on its standard input it starts a
 * fresh process there.  A fresh process draws its addresses and its place in memory anew, which
 * a single long one would keep and show as if it were an effect.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"

#define WORDS_MAX 64

#define SELF "/proc/self/exe"

/* Cuts the line at single spaces; returns the number of words, or -1 when there are too many. */
static int split(char *line, char **words)
{
	int count = 0;

	for (char *word = strsep(&line, " "); word; word = strsep(&line, " ")) {
		if (count == WORDS_MAX)
			return -1;
		words[count++] = word;
	}
	words[count] = NULL;
	return count;
}

/* Returns the exit status of one fresh process, 128+N when signal N ended it. */
static int run_fresh(char **words)
{
	int status;
	pid_t child = fork();

	if (child < 0) {
		fprintf(stderr, "timens-bench: zygote: fork: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	if (child == 0) {
		execv(SELF, words);
		fprintf(stderr, "timens-bench: zygote: " SELF ": %s\n", strerror(errno));
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int answer(char *line)
{
	char *words[WORDS_MAX + 2] = { "timens-bench" };
	int count = split(line, words + 1);

	if (count < 0)
		return command_usage("zygote", "more than 64 words", words[1]);
	if (strcmp(words[1], "measure") != 0)
		return command_usage("zygote", "a line must start with 'measure'", words[1]);
	return run_fresh(words);
}

int command_zygote(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (argc > 1)
		return command_usage("zygote", "takes no argument", argv[1]);
	/* Not a byte ahead of the line: what follows may be for the worker (turns.h). */
	(void)setvbuf(stdin, NULL, _IONBF, 0);
	printf("{\"zygote\":\"ready\",\"pid\":%d}\n", (int)getpid());
	(void)fflush(stdout);
	while ((length = getline(&line, &size, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		printf("{\"zygote\":\"end\",\"status\":%d}\n", answer(line));
		if (fflush(stdout) != 0)
			break; /* nobody listens any more */
	}
	free(line);
	return 0;
}
