/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/resources.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/file.h"
#include "model/rlimit.h"

int resources_limit(pid_t pid, const struct rlimit_setting *settings, size_t count, struct err *e)
{
	for (const struct rlimit_setting *s = settings; s < settings + count; s++) {
		if (prlimit(pid, s->resource, &s->value, NULL) == 0)
			continue;
		(void)err_set(e, errno, "cannot set the limit %s", rlimit_name(s->resource));
		if (e->code == EPERM)
			return err_hint(e, "a hard limit can only be raised with CAP_SYS_RESOURCE");
		return -e->code;
	}
	return 0;
}

int resources_set_oom_score(pid_t pid, int score, struct err *e)
{
	char path[48], text[12];
	int r, length = snprintf(text, sizeof text, "%d", score);

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
	r = file_write(path, text, (size_t)length, e);
	if (r == -EACCES)
		return err_hint(e, "a score can only be lowered with CAP_SYS_RESOURCE");
	return r;
}
