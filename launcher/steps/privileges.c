/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

int privileges_become_root(struct err *e)
{
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_set(e, errno, "cannot become root inside");
	/* Another id outside makes us undumpable, and then /proc/self belongs to nobody:
	 * timens_offsets could not be opened. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot open /proc/self to us");
	return 0;
}

int privileges_die_with_parent(struct err *e)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot set the signal of the launcher's end");
	return 0;
}

int privileges_bound(uint64_t kept, struct err *e)
{
	for (unsigned int cap = 0; cap < 64; cap++) {
		if (kept >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL) /* this kernel's last capability was the one before */
			break;
		return err_set(e, errno, "cannot drop capability %u", cap);
	}
	return 0;
}

int privileges_set_ids(uint32_t uid, uint32_t gid, const uint32_t *groups, size_t group_count,
		       bool without_groups, struct err *e)
{
	_Static_assert(sizeof(gid_t) == sizeof *groups, "setgroups(2) takes our list as it is");

	/* Without it a change from root to another user empties the permitted set. */
	if (uid != 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot keep capabilities");
	if (setgroups(group_count, groups) < 0 && !(without_groups && errno == EPERM))
		return err_set(e, errno, "cannot set the supplementary groups");
	if (setresgid(gid, gid, gid) < 0)
		return err_set(e, errno, "cannot become group %u", gid);
	if (setresuid(uid, uid, uid) < 0)
		return err_set(e, errno, "cannot become user %u", uid);
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot open /proc/self to us");
	return 0;
}

int privileges_limit(uint64_t kept, uint64_t ambient, struct err *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2], now[2];

	if (syscall(SYS_capget, &header, now) < 0)
		return err_set(e, errno, "cannot read the capabilities");
	for (unsigned int half = 0; half < 2; half++) {
		/* More than we have cannot be asked for: root of some machines has not all. */
		uint32_t mine = (uint32_t)(kept >> (32 * half)) & now[half].permitted;

		sets[half] = (struct __user_cap_data_struct){
			.effective = mine,
			.permitted = mine,
			.inheritable = (uint32_t)(ambient >> (32 * half)) & mine,
		};
	}
	if (syscall(SYS_capset, &header, sets) < 0)
		return err_set(e, errno, "cannot limit the capabilities");
	for (unsigned int cap = 0; cap < 64; cap++)
		if (ambient >> cap & 1 && sets[cap / 32].permitted >> cap % 32 & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return err_set(e, errno, "cannot keep capability %u for the program", cap);
	return 0;
}

int privileges_hide_program(struct err *e)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot hide /proc/self/exe");
	return 0;
}

int privileges_no_new(struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot set no_new_privs");
	return 0;
}
