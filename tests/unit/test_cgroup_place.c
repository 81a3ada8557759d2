/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where our own cgroup is, on hosts that are not this one. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/cgroup_place.h"

static const char v2_mounts[] =
	"22 28 0:21 / /proc rw,nosuid shared:13 - proc proc rw\n"
	"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char hybrid_mounts[] =
	"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup none "
	"rw,cpu,cpuacct\n"
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
static const char hybrid_own[] = "9:name=systemd:/\n"
				 "4:memory:/jobs/7\n"
				 "1:cpu,cpuacct:/\n"
				 "0::/jobs\n";

static struct cgroup_place place;
static struct err e;

static void find(const char *own, const char *mounts, const char *controller)
{
	e = (struct err){ 0 };
	assert(cgroup_place_find(own, mounts, controller, &place, &e) == 0);
}

static void v2_has_one_place_for_all(void)
{
	find("0::/user.slice/session-3.scope\n", v2_mounts, "memory");
	assert(place.unified);
	assert(strcmp(place.dir, "/sys/fs/cgroup/user.slice/session-3.scope") == 0);
	assert(place.mount_len == strlen("/sys/fs/cgroup"));
}

static void a_hybrid_host_has_one_for_each_controller(void)
{
	find(hybrid_own, hybrid_mounts, "memory");
	assert(!place.unified && strcmp(place.dir, "/sys/fs/cgroup/memory/jobs/7") == 0);
	find(hybrid_own, hybrid_mounts, "cpu");
	assert(!place.unified && strcmp(place.dir, "/sys/fs/cgroup/cpu,cpuacct") == 0);
	find(hybrid_own, hybrid_mounts, "pids");
	assert(place.unified && strcmp(place.dir, "/sys/fs/cgroup/unified/jobs") == 0);
}

static void a_bind_mount_of_our_own_cgroup_is_found(void)
{
	find("0::/box/a\n", "9 1 0:2 /box /cg\\040here rw - cgroup2 none rw\n", "memory");
	assert(strcmp(place.dir, "/cg here/a") == 0);
	find("0::/box\n", "9 1 0:2 /box /cg rw - cgroup2 none rw\n", "memory");
	assert(strcmp(place.dir, "/cg") == 0);
}

static void refuses(const char *own, const char *mounts, const char *why)
{
	e = (struct err){ 0 };
	assert(cgroup_place_find(own, mounts, "memory", &place, &e) == -ENOENT);
	assert(strcmp(e.text, why) == 0);
}

static void what_is_not_there_is_named(void)
{
	refuses("1:cpu:/\n", hybrid_mounts, "no cgroup tree has the controller 'memory'");
	refuses("", "", "no cgroup tree has the controller 'memory'");
	refuses("4:memory:/a\n", v2_mounts,
		"our own cgroup is mounted nowhere, controller 'memory'");
	/* Another container's part of the tree, and a path above our cgroup namespace. */
	refuses("0::/boxer\n", "9 1 0:2 /box /cg rw - cgroup2 none rw\n",
		"our own cgroup is mounted nowhere, controller 'memory'");
	refuses("0::/../other\n", v2_mounts,
		"our own cgroup is mounted nowhere, controller 'memory'");
}

static void torn_lines_do_no_harm(void)
{
	refuses("0::/a", "x", "our own cgroup is mounted nowhere, controller 'memory'");
	refuses("0::/a", "1 2 3 / /p\\", "our own cgroup is mounted nowhere, controller 'memory'");
	refuses(":memory", "", "our own cgroup is mounted nowhere, controller 'memory'");
	refuses("\n\n:::\n", "\n", "no cgroup tree has the controller 'memory'");
}

int main(void)
{
	v2_has_one_place_for_all();
	a_hybrid_host_has_one_for_each_controller();
	a_bind_mount_of_our_own_cgroup_is_found();
	what_is_not_there_is_named();
	torn_lines_do_no_harm();
	return 0;
}
