/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - timens-run: from the command line to the exit status */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"
#include "engine/host_check.h"
#include "engine/plan.h"
#include "engine/run.h"
#include "front/accounts.h"
#include "front/request.h"
#include "model/check.h"

enum { EXIT_NOT_STARTED = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int print_failure(const struct err *e)
{
	fprintf(stderr, "timens-run: %s: %s: %s\n", e->step[0] != '\0' ? e->step : "command line",
		e->text, strerror(e->code));
	if (e->hint[0] != '\0')
		fprintf(stderr, "hint: %s\n", e->hint);
	if (strcmp(e->step, "exec") != 0)
		return EXIT_NOT_STARTED;
	return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int check_host(bool json)
{
	char user[64];

	return host_check_print(accounts_name_of(geteuid(), user, sizeof user) ? user : "", json);
}

static int prepare(struct request *q, char **argv, struct err *e)
{
	int r = request_parse(q, argv, e);

	if (r < 0 || q->help || q->version || q->check || q->answer != NULL)
		return r;
	r = request_finish(q, e);
	return r < 0 ? r : spec_check(&q->spec, e);
}

/* A descriptor of ours that took the number of a closed stream would be written to by mistake. */
static void open_standard_streams(void)
{
	int fd = -1;

	if (fcntl(STDIN_FILENO, F_GETFD) < 0 || fcntl(STDOUT_FILENO, F_GETFD) < 0 ||
	    fcntl(STDERR_FILENO, F_GETFD) < 0)
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < STDERR_FILENO)
		fd = dup(fd);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* The same in every C library: a line of a message in one piece, an answer as a whole. */
static void buffer_standard_streams(void)
{
	static char line[1024];

	(void)setvbuf(stderr, line, _IOLBF, sizeof line); /* without it: in smaller pieces */
	(void)setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
}

/* Is it about us, or about what would be done, in place of a container? */
static bool asks_for_words(const struct request *q)
{
	return q->answer != NULL || q->check || q->help || q->version || q->explain;
}

static int print_answer(const struct request *q)
{
	if (q->answer != NULL)
		return q->answer();
	if (q->check)
		return check_host(q->json);
	if (q->help) {
		request_print_help();
	} else if (q->version) {
		puts("timens-run " TIMENS_VERSION);
	} else {
		plan_explain(&host_plan, "host", &q->spec);
		plan_explain(&child_plan, "child", &q->spec);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct request q; /* large, and reachable to the end */
	struct err e = { 0 };
	int status = 0;

	if (argc < 1 || getauxval(AT_SECURE) != 0) {
		(void)err_set(&e, EPERM, "this program must not be setuid or have capabilities");
		return print_failure(&e);
	}
	open_standard_streams();
	buffer_standard_streams();
	if (prepare(&q, argv + 1, &e) < 0)
		return print_failure(&e);
	if (asks_for_words(&q)) {
		status = print_answer(&q);
		return output_finish(&e) < 0 ? print_failure(&e) : status;
	}
	if (container_run(&q.spec, &status, &e) < 0)
		return print_failure(&e);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
