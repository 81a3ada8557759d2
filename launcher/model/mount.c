/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/mount.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "model/container_spec.h"

const char *const mount_masked_proc[] = {
	"acpi",       "asound",      "kcore",       "keys", "latency_stats",
	"timer_list", "timer_stats", "sched_debug", "scsi", NULL,
};
const char *const mount_masked_sys[] = { "firmware", "devices/virtual/powercap", NULL };
const char *const mount_read_only_proc[] = { "bus", "fs", "irq", "sys", "sysrq-trigger", NULL };

enum { SAFE = MS_NOSUID | MS_NODEV | MS_NOEXEC, TTY_GROUP = 5 };

static struct mount file_system(const char *type, const char *target, unsigned long flags,
				const char *data)
{
	return (struct mount){ .type = type, .target = target, .flags = flags, .data = data };
}

/* The host's own tree, for where a namespace is shared and a new mount would be refused. */
static struct mount from_host(const char *path, unsigned long flags)
{
	return (struct mount){ .source = path, .target = path, .flags = flags, .optional = true };
}

/* A new mount of a namespace's file system must be made by the namespace's owner. */
static bool owns(const struct container_spec *spec, uint32_t flag)
{
	enum namespace_kind kind = 0;

	while (namespaces[kind].flag != flag)
		kind++;
	if (spec->join[NS_USER] != NULL)
		return creates(spec, flag) || spec->join[kind] != NULL;
	return creates(spec, flag) || !creates(spec, CLONE_NEWUSER);
}

static size_t dev_mounts(const struct container_spec *spec, struct mount *m)
{
	size_t n = 0;
	uint32_t outside;
	/* The maps of a joined user namespace are not ours to know. */
	bool tty_group = creates(spec, CLONE_NEWUSER)
				 ? id_map_outside(&spec->groups, TTY_GROUP, &outside)
				 : spec->join[NS_USER] == NULL;

	m[n++] = file_system("tmpfs", "/dev", MS_NOSUID, "mode=755,size=64k");
	m[n++] = file_system("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC,
			     tty_group ? "newinstance,ptmxmode=0666,mode=0620,gid=5"
				       : "newinstance,ptmxmode=0666,mode=0620");
	m[n++] = file_system("tmpfs", "/dev/shm", SAFE, "mode=1777,size=64m");
	if (owns(spec, CLONE_NEWIPC)) {
		m[n] = file_system("mqueue", "/dev/mqueue", SAFE, NULL);
		m[n++].optional = true; /* CONFIG_POSIX_MQUEUE */
	} else {
		m[n++] = from_host("/dev/mqueue", SAFE);
	}
	return n;
}

size_t mount_defaults(const struct container_spec *spec,
		      struct mount ret_mounts[static MOUNT_DEFAULTS_MAX])
{
	struct mount *m = ret_mounts;
	size_t n = 0;

	if (spec->root == NULL) {
		/* The caller's own view, in which only /proc of a new pid namespace is wrong. */
		if (creates(spec, CLONE_NEWPID) && creates(spec, CLONE_NEWNS))
			m[n++] = file_system("proc", "/proc", SAFE, NULL);
		return n;
	}
	if (spec->proc != TREE_NONE)
		m[n++] = owns(spec, CLONE_NEWPID) ? file_system("proc", "/proc", SAFE, NULL)
						  : from_host("/proc", 0);
	if (spec->dev != TREE_NONE)
		n += dev_mounts(spec, m + n);
	if (spec->sys != TREE_NONE) {
		unsigned long flags = SAFE | (spec->sys == TREE_OCI ? MS_RDONLY : 0);

		m[n++] = owns(spec, CLONE_NEWNET) ? file_system("sysfs", "/sys", flags, NULL)
						  : from_host("/sys", flags);
		/* A host without cgroup v2 has nothing that could be mounted. */
		m[n] = file_system("cgroup2", "/sys/fs/cgroup", flags, NULL);
		m[n++].optional = true;
	}
	return n;
}

size_t mount_count_before_network(const struct container_spec *spec)
{
	size_t n = 0;

	while (n < spec->mount_count &&
	       (spec->mounts[n].type == NULL || strcmp(spec->mounts[n].type, "sysfs") != 0))
		n++;
	return n;
}
