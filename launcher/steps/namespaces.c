/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

#define LIMIT_HINT                                                                                 \
	"a limit of namespaces is reached, see sysctl user.max_*_namespaces and namespaces(7)"

pid_t namespaces_clone(uint32_t flags, int into_cgroup, struct err *e)
{
	struct clone_args args = {
		.flags = flags & ~(uint32_t)(CLONE_NEWTIME | CLONE_NEWCGROUP),
		.exit_signal = SIGCHLD,
	};
	long pid;

	if (into_cgroup >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)into_cgroup;
	}
	pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid >= 0)
		return (pid_t)pid;
	(void)err_set(e, errno, "cannot create the container process");
	switch (e->code) {
	case EPERM:
		return err_hint(e, "are user namespaces forbidden here? see sysctl "
				   "user.max_user_namespaces, kernel.unprivileged_userns_clone, "
				   "kernel.apparmor_restrict_unprivileged_userns");
	case ENOSPC:
	case EUSERS:
		return err_hint(e, LIMIT_HINT);
	case ENOSYS:
		return err_hint(e, "clone3(2) needs Linux 5.3, and a seccomp filter around us that "
				   "lets it pass");
	case EAGAIN:
		return err_hint(e, "a limit of processes is reached: ulimit -u, pids.max");
	default:
		return -e->code;
	}
}

int namespaces_open(const char *const paths[static NS_COUNT], int ret_fds[static NS_COUNT],
		    struct err *e)
{
	for (enum namespace_kind k = 0; k < NS_COUNT; k++) {
		if (paths[k] == NULL)
			continue;
		ret_fds[k] = open(paths[k], O_RDONLY | O_CLOEXEC);
		if (ret_fds[k] < 0)
			return err_set(e, errno, "cannot open %s", paths[k]);
	}
	return 0;
}

int namespaces_join(enum namespace_kind kind, int fd, struct err *e)
{
	if (setns(fd, (int)namespaces[kind].flag) == 0)
		return 0;
	(void)err_set(e, errno, "cannot enter the %s namespace", namespaces[kind].name);
	if (e->code == EINVAL)
		return err_hint(e, "the path is not a %s namespace, or we are in it already",
				namespaces[kind].name);
	if (e->code == EPERM)
		return err_hint(e, "its user namespace must be entered as well: --join user=PATH");
	return -e->code;
}

int namespaces_new_cgroup(struct err *e)
{
	if (unshare(CLONE_NEWCGROUP) < 0)
		return err_set(e, errno, "cannot create a cgroup namespace");
	return 0;
}

int namespaces_set_hostname(const char *name, struct err *e)
{
	if (sethostname(name, strlen(name)) < 0)
		return err_set(e, errno, "cannot set the host name '%s'", name);
	return 0;
}

int namespaces_loopback_up(struct err *e)
{
	autoclose int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (s < 0)
		return err_set(e, errno, "cannot open a socket");
	if (ioctl(s, SIOCSIFFLAGS, &lo) < 0)
		return err_set(e, errno, "cannot bring lo up");
	return 0;
}

int namespaces_new_network(int fd, struct err *e)
{
	autoclose int namespace = -1;
	int r;

	if (unshare(CLONE_NEWNET) < 0) {
		(void)err_set(e, errno, "cannot create a network namespace");
		if (e->code == ENOSPC)
			return err_hint(e, LIMIT_HINT);
		if (e->code == EPERM)
			return err_hint(e, "only root may; others first need a user namespace: "
					   "--only user,net");
		return -e->code;
	}
	r = namespaces_loopback_up(e);
	if (r < 0)
		return r;
	namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (namespace < 0 || dup3(namespace, fd, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot keep the network namespace");
	return 0;
}
