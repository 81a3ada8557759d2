/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* without_libraries.c - in place of all that calls jansson and libseccomp */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "front/image_config.h"
#include "front/libraries.h"
#include "front/seccomp_profile.h"

int libraries_need(char *const *words, struct err *e)
{
	static const char *const places[] = { "", "../libexec/timens-run/" };
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0)
		return err_set(e, errno, "cannot read /proc/self/exe");
	self[length] = '\0';
	strrchr(self, '/')[1] = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s%stimens-run-full", self, places[i]);
		(void)execv(path, words); /* judged below */
		if (errno != ENOENT)
			break;
	}
	(void)err_set(e, errno, "cannot execute %s", path);
	return err_hint(e, "it reads JSON and compiles seccomp profiles, and was installed with "
			   "timens-run: install both");
}

/* Whoever wants one of these has called libraries_need() before. */

int image_config_apply(struct request *q, struct err *e)
{
	(void)q, (void)e;
	abort();
}

int seccomp_profile_compile(const char *text, size_t length, const struct profile_facts *facts,
			    struct seccomp_filter *ret, struct err *e)
{
	(void)text, (void)length, (void)facts, (void)ret, (void)e;
	abort();
}

int seccomp_profile_load(const char *path, uint64_t capabilities, struct seccomp_filter *ret,
			 struct err *e)
{
	(void)path, (void)capabilities, (void)ret, (void)e;
	abort();
}
