/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hook_main.c - timens-hook: Podman's precreate hook, clocks for containers of any runtime
 *
 * A program of its own and not a name of timens-oci: what an engine runs for each container shall
 * be able to do this and no more.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <syslog.h>

#include "base/err.h"
#include "base/output.h"
#include "front/oci_config.h"
#include "front/oci_patch.h"

static const char help[] =
	"usage: timens-hook [OPTIONS] < config.json\n"
	"Prints an OCI config.json with the clocks that its annotations run.timens.* ask for.\n"
	"\n"
	"  --offset D  --boottime D  --monotonic D  --uptime D|near:NAME-D|random\n"
	"              clocks for containers whose annotations ask for none\n"
	"\n"
	"All else is in timens-hook(1).\n";

/* Returns 0, 1 when an answer was printed instead, or -errno with *e filled. */
static int read_options(int argc, char **argv, struct oci_clock_flags *ret, struct err *e)
{
	static const struct option options[] = {
		{ "offset", required_argument, NULL, 'o' },
		{ "boottime", required_argument, NULL, 'b' },
		{ "monotonic", required_argument, NULL, 'm' },
		{ "uptime", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1)
		switch (option) {
		case 'o':
			ret->offset = optarg;
			break;
		case 'b':
			ret->boottime = optarg;
			break;
		case 'm':
			ret->monotonic = optarg;
			break;
		case 'u':
			ret->uptime = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		case 'v':
			puts("timens-hook " VERSION);
			return 1;
		case ':':
			return err_set(e, EINVAL, "%s needs a value", argv[optind - 1]);
		default:
			return err_set(e, EINVAL, "option '%s' is not supported", argv[optind - 1]);
		}
	if (argv[optind] != NULL)
		return err_set(e, EINVAL, "a word too many: '%s'", argv[optind]);
	return 0;
}

/* Podman throws away what its hooks write to standard error: the system log keeps it. */
static void tell(int priority, const char *kind, const char *text, const char *cause)
{
	const char *colon = *cause != '\0' ? ": " : "";

	fprintf(stderr, "timens-hook: %s%s%s%s\n", kind, text, colon, cause);
	syslog(priority, "%s%s%s%s", kind, text, colon, cause);
}

int main(int argc, char **argv)
{
	struct oci_clock_flags flags = { 0 };
	const char *warning = NULL;
	struct err e = { 0 };
	int r;

	openlog("timens-hook", LOG_PID, LOG_DAEMON);
	if (getauxval(AT_SECURE) != 0)
		r = err_set(&e, EPERM, "this program must not be setuid or have capabilities");
	else
		r = read_options(argc, argv, &flags, &e);
	if (r == 0)
		r = oci_patch_stream(&flags, &warning, &e);
	if (r >= 0)
		r = output_finish(&e);
	if (r >= 0 && warning != NULL)
		tell(LOG_WARNING, "warning: ", warning, "");
	if (r >= 0)
		return EXIT_SUCCESS;
	tell(LOG_ERR, "", e.text, strerror(e.code));
	if (e.hint[0] != '\0') {
		fprintf(stderr, "hint: %s\n", e.hint);
		syslog(LOG_ERR, "hint: %s", e.hint);
	}
	return EXIT_FAILURE;
}
