/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/seccomp_filter.h"

#include <linux/seccomp.h>

bool seccomp_filter_notifies(const struct seccomp_filter *filter)
{
	for (unsigned int i = 0; i < filter->program.len; i++) {
		const struct sock_filter *line = &filter->program.filter[i];

		if (line->code == (BPF_RET | BPF_K) && line->k == SECCOMP_RET_USER_NOTIF)
			return true;
	}
	return false;
}
