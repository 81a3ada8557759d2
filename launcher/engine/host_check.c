/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/host_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vdso.h"
#include "model/clock_target.h"
#include "model/limits.h"
#include "model/namespaces.h"
#include "steps/cgroup.h"
#include "steps/clock_offsets.h"

struct finding {
	const char *user; /* our name, or "" */
	bool there;
	char detail[200];
	const char *remedy; /* when it is not there */
};

static const char userns_remedy[] = "allow them: sysctl user.max_user_namespaces=10000; on Debian "
				    "kernel.unprivileged_userns_clone=1, on Ubuntu "
				    "kernel.apparmor_restrict_unprivileged_userns=0";

/* Runs try() in a child, which may change its namespaces at will.  Returns 0 or its -errno. */
static int in_child(int (*try)(struct err *e), struct err *e)
{
	int status = 0, pipe_fds[2];
	pid_t child;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot open a pipe");
	child = fork();
	if (child == 0) {
		(void)try(e);
		_exit(write(pipe_fds[1], e, sizeof *e) == sizeof *e ? 0 : 1);
	}
	close(pipe_fds[1]);
	if (child < 0 || read(pipe_fds[0], e, sizeof *e) != sizeof *e)
		(void)err_set(e, ECHILD, "cannot try it in a child");
	close(pipe_fds[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return -e->code;
}

static int try_user_namespace(struct err *e)
{
	return unshare(CLONE_NEWUSER) < 0 ? err_set(e, errno, "unshare(CLONE_NEWUSER)") : 0;
}

static int try_clocks(struct err *e)
{
	struct clock_offset second = { .s = 1 };
	struct clock_targets ahead = { { CLOCK_SHIFTED, second }, { CLOCK_SHIFTED, second } };

	if (geteuid() != 0 && unshare(CLONE_NEWUSER) < 0)
		return err_set(e, errno, "unshare(CLONE_NEWUSER)");
	return clock_offsets_enter(&ahead, e);
}

static void find_time_namespaces(struct finding *f)
{
	f->there = access("/proc/self/ns/time_for_children", F_OK) == 0;
	f->remedy = "a kernel with CONFIG_TIME_NS=y, Linux 5.6 or later";
}

static void explain(struct finding *f, const struct err *e)
{
	f->there = e->code == 0;
	if (!f->there)
		(void)snprintf(f->detail, sizeof f->detail, "%.140s: %s", e->text,
			       strerror(e->code));
}

static void find_user_namespaces(struct finding *f)
{
	struct err e = { 0 };

	(void)in_child(try_user_namespace, &e);
	explain(f, &e);
	f->remedy = userns_remedy;
}

static void find_clocks(struct finding *f)
{
	struct err e = { 0 };

	(void)in_child(try_clocks, &e);
	explain(f, &e);
	f->remedy = "see the lines above; in a container, its engine may forbid it: it takes "
		    "CAP_SYS_ADMIN and CAP_SYS_TIME, or user namespaces";
	if (f->there)
		(void)snprintf(f->detail, sizeof f->detail, "tried as user %u", geteuid());
}

static bool in_path(const char *program)
{
	char path[4096], *rest = path, *folder;
	const char *variable = getenv("PATH");

	(void)snprintf(path, sizeof path, "%s", variable != NULL ? variable : "/usr/bin:/bin");
	while ((folder = text_next_field(&rest, ':')) != NULL) {
		char file[4200];

		(void)snprintf(file, sizeof file, "%s/%s", folder, program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Does the file give ids to the user, by name or by number?  subuid(5) */
static bool has_range(const char *path, const char *user)
{
	char text[64 * 1024] = "", number[16], *rest = text, *line;
	struct err unused;

	(void)snprintf(number, sizeof number, "%u", geteuid());
	(void)file_read(path, text, sizeof text, &unused);
	while ((line = text_next_field(&rest, '\n')) != NULL) {
		const char *owner = text_next_field(&line, ':');

		if (strcmp(owner, number) == 0 || (*user && strcmp(owner, user) == 0))
			return true;
	}
	return false;
}

static void find_id_ranges(struct finding *f)
{
	const char *how = "root maps ids without help";

	f->there = true;
	if (geteuid() != 0 && !(in_path("newuidmap") && in_path("newgidmap"))) {
		f->there = false;
		how = "no newuidmap(1): one id exists inside";
	} else if (geteuid() != 0 &&
		   !(has_range("/etc/subuid", f->user) && has_range("/etc/subgid", f->user))) {
		f->there = false;
		how = "no ranges in /etc/subuid and /etc/subgid: one id exists inside";
	} else if (geteuid() != 0) {
		how = "newuidmap(1) maps the ranges in /etc/subuid and /etc/subgid";
	}
	(void)snprintf(f->detail, sizeof f->detail, "%s", how);
	f->remedy = "install the package uidmap; usermod --add-subuids 100000-165535 "
		    "--add-subgids 100000-165535 NAME";
}

static void find_limits(struct finding *f)
{
	struct limits all = { .memory_bytes = 1 << 30, .cpu_quota_us = 100000, .pids = 1000 };
	struct cgroup cgroup = { 0 };
	struct err e = { 0 };

	if (cgroup_create(&all, &cgroup, &e) == 0) {
		(void)snprintf(f->detail, sizeof f->detail,
			       "--memory, --cpus and --pids, in %.120s", cgroup.trees[0].dir);
		(void)cgroup_remove(&cgroup, &e);
	}
	f->remedy = "delegate a cgroup with memory, cpu and pids: systemd-run --user --scope "
		    "-p Delegate=yes timens-run ...";
	f->there = e.code == 0;
	if (!f->there)
		explain(f, &e);
}

static void find_seccomp(struct finding *f)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	f->there = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
	f->remedy = "a kernel with CONFIG_SECCOMP_FILTER=y; else --seccomp unconfined";
}

static void find_clock_source(struct finding *f)
{
	/* Those that a vDSO can read: arch/x86 and arm64 VDSO_CLOCKMODE_*. */
	static const char fast[] = "tsc,kvm-clock,hyperv_clocksource_tsc_page,arch_sys_counter";
	struct err e = { 0 };
	char name[64] = "unknown";

	(void)file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
			sizeof name, &e);
	name[strcspn(name, "\n")] = '\0';
	f->there = text_list_has(fast, name);
	(void)snprintf(f->detail, sizeof f->detail, "%s%s", name,
		       f->there ? "" : ": each reading is a system call, here and inside");
	f->remedy = "if the processor's counter is stable, boot with clocksource=tsc tsc=reliable";
}

static void find_vdso(struct finding *f)
{
	f->there = vdso_find_clock_gettime() != NULL;
	f->remedy = "boot with vdso=1";
}

static void find_pasta(struct finding *f)
{
	f->there = in_path("pasta");
	f->remedy = "install the package passt, for --net pasta";
}

static const struct {
	const char *name;
	bool needed; /* without it, no command gets clocks of its own */
	void (*find)(struct finding *f);
} checks[] = {
	{ "time namespaces", true, find_time_namespaces },
	{ "user namespaces", false, find_user_namespaces },
	{ "own clocks", true, find_clocks },
	{ "ranges of ids", false, find_id_ranges },
	{ "limits", false, find_limits },
	{ "seccomp filters", false, find_seccomp },
	{ "clock source", false, find_clock_source },
	{ "vDSO", false, find_vdso },
	{ "pasta", false, find_pasta },
};

int host_check_print(const char *user, bool json)
{
	size_t count = sizeof checks / sizeof *checks;
	bool able = true;

	if (json)
		printf("{\"checks\": [");
	for (size_t i = 0; i < count; i++) {
		struct finding f = { .user = user };

		checks[i].find(&f);
		able = able && (f.there || !checks[i].needed);
		if (json)
			printf("%s{\"check\": \"%s\", \"ok\": %s, \"needed\": %s, \"detail\": "
			       "\"%s\", "
			       "\"remedy\": \"%s\"}",
			       i > 0 ? ", " : "", checks[i].name, f.there ? "true" : "false",
			       checks[i].needed ? "true" : "false", f.detail,
			       f.there ? "" : f.remedy);
		else
			printf("%-4s %-16s %s\n%s%s%s", f.there ? "yes" : "NO", checks[i].name,
			       f.detail, f.there ? "" : "     remedy: ", f.there ? "" : f.remedy,
			       f.there ? "" : "\n");
	}
	if (json)
		printf("], \"able\": %s}\n", able ? "true" : "false");
	else
		puts(able ? "A command can be given clocks of its own here."
			  : "No command can be given clocks of its own here.");
	return able ? 0 : 1;
}
