/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "model/seccomp_filter.h"

int seccomp_load_filter(const struct seccomp_filter *filter, struct err *e)
{
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter->flags, &filter->program) < 0)
		return err_set(e, errno, "cannot load the filter of %u instructions",
			       filter->program.len);
	return 0;
}
