/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* race.c - start programs in turn and time each from start to end
 *
 * usage: race ROUNDS SEED < COMMANDS        (a line is a command, its words apart by one space)
 *
 * A word that ends in # gets a number there that no other start has: containers need names.
 * A line may hold several commands, apart by the word ";", which count as one: its time is that of
 * all, its peak that of the largest.  The command "end-of FILE" waits for the process whose number
 * the file holds, as an engine does between the start and the delete of a container.
 *
 * Every round runs each command once, in an order drawn anew, so that what drifts on the machine
 * meets all of them alike.  Writes "ROUND COMMAND NANOSECONDS PEAK_KB STATUS" for each run.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 64, WORDS = 96, LINE = 8192 };

static size_t read_commands(char *words[COMMANDS][WORDS])
{
	static char lines[COMMANDS][LINE];
	size_t count = 0;

	while (count < COMMANDS && fgets(lines[count], LINE, stdin) != NULL) {
		char *rest = lines[count];

		rest[strcspn(rest, "\n")] = '\0';
		for (size_t w = 0; w + 1 < WORDS; w++)
			if ((words[count][w] = strsep(&rest, " ")) == NULL)
				break;
		count++;
	}
	return count;
}

static void shuffle(size_t *order, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)random() % i, kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

static void number(char *const *words, char **ret_words, char *text, size_t size)
{
	static unsigned long starts;
	size_t length;

	starts++;
	for (size_t w = 0; (ret_words[w] = words[w]) != NULL; w++) {
		length = strlen(words[w]);
		if (length == 0 || words[w][length - 1] != '#')
			continue;
		snprintf(text, size, "%.*s%d-%lu", (int)length - 1, words[w], getpid(), starts);
		ret_words[w] = text;
	}
}

/* What the command has started becomes our child when the command ends: we are its subreaper. */
static pid_t read_pid(const char *path)
{
	FILE *file = fopen(path, "r");
	pid_t pid = -1;

	if (file != NULL && fscanf(file, "%d", &pid) != 1)
		pid = -1;
	if (file != NULL)
		(void)fclose(file); /* was only read */
	return pid;
}

/* Returns the status of the command; *peak_kb grows. */
static int run(char **words, const posix_spawn_file_actions_t *files, long *peak_kb)
{
	struct rusage usage = { 0 };
	int status = -1;
	pid_t pid = -1;

	if (words[0] == NULL)
		return 255;
	if (strcmp(words[0], "end-of") == 0)
		pid = read_pid(words[1]);
	else if (posix_spawnp(&pid, words[0], files, NULL, words, environ) != 0)
		return 255;
	if (pid <= 0 || wait4(pid, &status, 0, &usage) != pid)
		return 255;
	if (usage.ru_maxrss > *peak_kb)
		*peak_kb = usage.ru_maxrss;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void run_line(unsigned long round, size_t command, char *const *template)
{
	char *numbered[WORDS], **words = numbered, text[LINE];
	struct timespec start, end;
	posix_spawn_file_actions_t files;
	long peak_kb = 0;
	int status = 0;

	number(template, numbered, text, sizeof text);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 2, 1); /* standard output is for the results */
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (char **next; status == 0 && words != NULL; words = next) {
		char *separator;

		for (next = words; *next != NULL && strcmp(*next, ";") != 0; next++)
			;
		separator = *next;
		*next = NULL;
		status = run(words, &files, &peak_kb);
		*next = separator;
		next = separator != NULL ? next + 1 : NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	posix_spawn_file_actions_destroy(&files);
	printf("%lu %zu %lld %ld %d\n", round, command,
	       (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec, peak_kb,
	       status);
}

int main(int argc, char **argv)
{
	static char *words[COMMANDS][WORDS];
	size_t order[COMMANDS], count = read_commands(words);
	unsigned long rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;

	if (rounds == 0 || count == 0) {
		fprintf(stderr, "usage: race ROUNDS SEED < COMMANDS\n");
		return 2;
	}
	/* Without it "end-of" fails, and that is told. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	srandom((unsigned int)strtoul(argv[2], NULL, 10));
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (unsigned long round = 0; round < rounds; round++) {
		shuffle(order, count);
		for (size_t i = 0; i < count; i++)
			run_line(round, order[i], words[order[i]]);
	}
	return 0;
}
