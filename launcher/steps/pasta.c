/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/pasta.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/helper.h"

int pasta_connect(pid_t pid, struct err *e)
{
	char pid_word[12];
	/* --config-net: addresses and routes as the host has them.  Ports are opened by hand. */
	const char *argv[] = { "pasta", "--config-net", "--quiet", "--tcp-ports", "none",
			       "--udp-ports", "none", pid_word, NULL };
	int r;

	snprintf(pid_word, sizeof pid_word, "%d", pid);
	r = helper_run(argv, e);
	if (r == -ENOENT)
		return err_hint(e, "install the package passt, or use --net none or --net host");
	return r;
}
