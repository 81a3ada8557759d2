/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/namespaces.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/err.h"

const struct namespace_info namespaces[NS_COUNT] = {
	[NS_CGROUP] = { "cgroup", CLONE_NEWCGROUP }, [NS_IPC] = { "ipc", CLONE_NEWIPC },
	[NS_MNT] = { "mnt", CLONE_NEWNS },           [NS_NET] = { "net", CLONE_NEWNET },
	[NS_PID] = { "pid", CLONE_NEWPID },          [NS_TIME] = { "time", CLONE_NEWTIME },
	[NS_USER] = { "user", CLONE_NEWUSER },       [NS_UTS] = { "uts", CLONE_NEWUTS },
};

enum namespace_kind namespace_find(const char *name, unsigned int length)
{
	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		if (strlen(namespaces[k].name) == length &&
		    memcmp(namespaces[k].name, name, length) == 0)
			return k;
	return NS_COUNT;
}

int namespaces_parse(const char *list, uint32_t *ret_flags, struct err *e)
{
	uint32_t flags = 0;

	for (;;) {
		unsigned int length = (unsigned int)strcspn(list, ",");
		enum namespace_kind k = namespace_find(list, length);

		if (k == NS_COUNT) {
			(void)err_set(e, EINVAL, "'%.*s' is not a namespace", (int)length, list);
			return err_hint(e, "one of: cgroup ipc mnt net pid time user uts");
		}
		flags |= namespaces[k].flag;
		if (list[length] == '\0')
			break;
		list += length + 1;
	}
	*ret_flags = flags;
	return 0;
}
