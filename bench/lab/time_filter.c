/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lab/time_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

static const struct {
	const char *name;
	int number;
	int has_clock;
} calls[] = {
	{ "clock_gettime", SYS_clock_gettime, 1 },
	{ "clock_getres", SYS_clock_getres, 1 },
	{ "gettimeofday", SYS_gettimeofday, 0 },
#if defined(SYS_time)
	{ "time", SYS_time, 0 },
#endif
	{ "getcpu", SYS_getcpu, 0 },
};

#define CALLS (sizeof calls / sizeof *calls)

const char *time_filter_name(int number, int *ret_has_clock)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (calls[i].number == number) {
			*ret_has_clock = calls[i].has_clock;
			return calls[i].name;
		}
	}
	return NULL;
}

/* Loads a filter that does `action` for each of the calls.  Returns what seccomp(2) returns. */
static int load(uint32_t action, unsigned int flags, struct problem *p)
{
	/* arch, jump if other, number, one comparison for each call, allow, act */
	struct sock_filter code[3 + CALLS + 2];
	struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
	const unsigned int allow = 3 + CALLS;
	long result;

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, arch));
	code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0,
					       (uint8_t)(allow - 2));
	code[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < CALLS; i++)
		code[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)calls[i].number,
							   (uint8_t)(allow - (3 + i)), 0);
	code[allow] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[allow + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return problem_set(p, errno, NULL, "vdso-used: PR_SET_NO_NEW_PRIVS");
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (result < 0)
		return problem_set(p, errno, "a seccomp filter around us may forbid or occupy it",
				   "vdso-used: cannot load a seccomp filter");
	return (int)result;
}

int time_filter_refuse(struct problem *p)
{
	return load(SECCOMP_RET_ERRNO | REFUSED_ERRNO, 0, p);
}

int time_filter_listen(int *ret_listener, struct problem *p)
{
	int listener = load(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER, p);

	if (listener < 0)
		return -1;
	*ret_listener = listener;
	return 0;
}
