/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* floor.c - what a container costs where nothing is read, checked, explained or undone
 *
 * usage: floor ROOT PROGRAM [ARG...]        (as root, or as a user with a single-id map)
 *
 * The system calls of `timens-run --monotonic 3600 --boottime 3600 ROOT PROGRAM`, in the same
 * order, straight from start to exec, with the same C library: the bound that the benchmark
 * measures timens-run against.
 * A call that fails ends it with 125, nothing else is looked at.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/seccomp_default.h"

#define CAPABILITIES 0xa80425fbU /* what timens-run leaves to root inside */
#define HARMLESS (MS_NOSUID | MS_NODEV | MS_NOEXEC)

enum { CLOEXEC_RANGE = 4 /* CLOSE_RANGE_CLOEXEC */, NEWTIME = 0x80, NOT_STARTED = 125 };

static void need(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	_exit(NOT_STARTED);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

static int beneath(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

static void enter(int root, const char *path)
{
	int fd = beneath(root, path);

	need(fd >= 0 && fchdir(fd) == 0, path);
	close(fd);
}

static void mount_at(int root, const char *path, const char *type, unsigned long flags,
		     const char *data)
{
	enter(root, path);
	need(mount(type, ".", type, flags, data) == 0, path);
}

static void mount_beneath_dev(int root, const char *name, const char *type, unsigned long flags,
			      const char *data)
{
	char path[32];

	enter(root, "/dev");
	need(mkdir(name, 0755) == 0, name);
	snprintf(path, sizeof path, "/dev/%s", name);
	mount_at(root, path, type, flags, data);
}

static void make_devices(int root)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };
	static const char *const links[][2] = { { "/proc/self/fd", "fd" },
						{ "/proc/self/fd/0", "stdin" },
						{ "/proc/self/fd/1", "stdout" },
						{ "/proc/self/fd/2", "stderr" },
						{ "pts/ptmx", "ptmx" } };
	char source[32];

	enter(root, "/dev");
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		snprintf(source, sizeof source, "/dev/%s", nodes[i]);
		need(mknod(nodes[i], S_IFREG | 0666, 0) == 0, nodes[i]);
		need(mount(source, nodes[i], NULL, MS_BIND, NULL) == 0, source);
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		need(symlink(links[i][0], links[i][1]) == 0, links[i][1]);
}

static void mask(const char *const *files, const char *const *folders, const char *const *read_only)
{
	for (; *files != NULL; files++)
		(void)mount("/dev/null", *files, NULL, MS_BIND, NULL);
	for (; *folders != NULL; folders++)
		(void)mount("tmpfs", *folders, "tmpfs", MS_RDONLY, "nr_inodes=1");
	for (; *read_only != NULL; read_only++)
		if (mount(*read_only, *read_only, NULL, MS_BIND | MS_REC, NULL) == 0)
			need(mount(NULL, *read_only, NULL,
				   MS_REMOUNT | MS_BIND | MS_RDONLY | HARMLESS, NULL) == 0,
			     *read_only);
}

static void bring_loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	need(ioctl(s, SIOCSIFFLAGS, &lo) == 0, "lo");
	close(s);
}

/* A process that shares our open files, and the one that it is to fill. */
struct maker {
	pid_t pid;
	int fd;
};

static struct maker begin_network(int channel)
{
	struct maker maker = { .fd = fcntl(channel, F_DUPFD_CLOEXEC, 3) };
	int fd;

	maker.pid = (pid_t)syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);
	if (maker.pid != 0)
		return maker;
	need(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "parent's death");
	need(unshare(CLONE_NEWNET) == 0, "network namespace");
	bring_loopback_up();
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	need(dup3(fd, maker.fd, O_CLOEXEC) == maker.fd, "network namespace");
	_exit(0);
}

static void enter_network(struct maker maker)
{
	int status = 0;

	need(waitpid(maker.pid, &status, __WALL) == maker.pid && status == 0, "network namespace");
	need(setns(maker.fd, CLONE_NEWNET) == 0, "network namespace");
	close(maker.fd);
}

static void drop_bounding_set(void)
{
	for (unsigned long cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (cap >= 32 || !(CAPABILITIES >> cap & 1))
			need(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0, "bounding set");
}

static void make_mounts(int root, struct maker network)
{
	static const char *const proc_files[] = { "keys", "timer_list", NULL };
	static const char *const proc_folders[] = { "acpi", NULL };
	static const char *const proc_read_only[] = { "bus", "fs", "irq", "sys", NULL };
	static const char *const sys_folders[] = { "firmware", NULL };
	static const char *const nothing[] = { NULL };

	mount_at(root, "/proc", "proc", HARMLESS, NULL);
	mount_at(root, "/dev", "tmpfs", MS_NOSUID, "mode=755,size=64k");
	mount_beneath_dev(root, "pts", "devpts", MS_NOSUID | MS_NOEXEC,
			  "newinstance,ptmxmode=0666,mode=0620");
	mount_beneath_dev(root, "shm", "tmpfs", HARMLESS, "mode=1777,size=64m");
	mount_beneath_dev(root, "mqueue", "mqueue", HARMLESS, NULL);
	make_devices(root);
	drop_bounding_set();
	enter_network(network);
	mount_at(root, "/sys", "sysfs", MS_RDONLY | HARMLESS, NULL);
	mount_at(root, "/sys/fs/cgroup", "cgroup2", MS_RDONLY | HARMLESS, NULL);
	enter(root, "/proc");
	mask(proc_files, proc_folders, proc_read_only);
	enter(root, "/sys");
	mask(nothing, sys_folders, nothing);
}

static void enter_time_namespace(void)
{
	int fd;

	need(unshare(NEWTIME) == 0, "time namespace");
	write_file("/proc/self/timens_offsets", "monotonic 3600 0\nboottime 3600 0");
	fd = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	need(setns(fd, NEWTIME) == 0, "time namespace");
	close(fd);
}

static void drop_privileges(bool with_groups)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { .effective = CAPABILITIES,
						    .permitted = CAPABILITIES } };

	if (with_groups)
		need(syscall(SYS_setgroups, 0, NULL) == 0, "setgroups");
	need(syscall(SYS_capset, &header, sets) == 0, "capset");
	need(chdir("/") == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	need(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "parent's death");
}

static int exec_payload(void *arg)
{
	char **argv = arg;

	need(close_range(3, ~0U, CLOEXEC_RANGE) == 0, "close_range");
	need(syscall(SYS_seccomp, 1, 0, &seccomp_default_filter.program) == 0, "seccomp");
	execv(argv[0], argv);
	need(false, argv[0]);
	return NOT_STARTED;
}

static _Noreturn void child(int channel, char **argv, bool with_groups)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	char note;
	int root, status = 0;
	struct maker network;
	pid_t payload;

	network = begin_network(channel);
	need(recv(channel, &note, 1, 0) == 1, "mapped");
	need(setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0, "root inside");
	need(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "dumpable");
	need(unshare(CLONE_NEWCGROUP) == 0, "cgroup namespace");
	enter_time_namespace();
	need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "propagation");
	root = open_tree(AT_FDCWD, argv[0], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	need(move_mount(root, "", AT_FDCWD, argv[0], MOVE_MOUNT_F_EMPTY_PATH) == 0, argv[0]);
	make_mounts(root, network);
	need(fchdir(root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0, "pivot_root");
	need(umount2(".", MNT_DETACH) == 0, "umount");
	drop_privileges(with_groups);
	need(send(channel, "R", 1, 0) == 1, "ready");
	payload = clone(exec_payload, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
			argv + 1);
	(void)close_range(0, ~0U, 0);
	need(waitpid(payload, &status, 0) == payload, "payload");
	_exit(WEXITSTATUS(status));
}

static void write_maps(pid_t pid)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char path[48], map[48];

	if (getuid() != 0) {
		snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
		write_file(path, "deny");
	}
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "/proc/%d/%s", pid, files[i]);
		snprintf(map, sizeof map, "0 %u %u\n", i == 0 ? getuid() : getgid(),
			 getuid() == 0 ? UINT32_MAX : 1);
		write_file(path, map);
	}
}

int main(int argc, char **argv)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS,
		.exit_signal = SIGCHLD,
	};
	bool root = getuid() == 0;
	int ends[2], status = 0;
	char note;
	pid_t pid;

	need(argc > 2 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0,
	     "usage: floor ROOT PROGRAM [ARG...]");
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	need(pid >= 0, "clone3");
	if (pid == 0) {
		close(ends[0]);
		child(ends[1], argv + 1, root);
	}
	close(ends[1]);
	write_maps(pid);
	need(send(ends[0], "M", 1, 0) == 1 && recv(ends[0], &note, 1, 0) == 1, "set-up");
	need(recv(ends[0], &note, 1, 0) == 0, "exec");
	need(waitpid(pid, &status, 0) == pid, "wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
