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
	/* Without an agent there is nobody to wait for, and the kernel refuses the flag. */
	unsigned int flags = filter->flags & ~(unsigned int)SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter->program) < 0)
		return err_set(e, errno, "cannot load the filter of %u instructions",
			       filter->program.len);
	return 0;
}
