/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/bundle_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/copy_tree.h"
#include "base/err.h"
#include "base/file.h"
#include "model/bundle.h"

static int open_source(const struct bundle_mount *m)
{
	return open_tree(AT_FDCWD, m->source,
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
				 (m->with_submounts ? (unsigned int)AT_RECURSIVE : 0u) |
				 (m->no_follow ? (unsigned int)AT_SYMLINK_NOFOLLOW : 0u));
}

int bundle_mounts_open(const struct bundle *bundle, bool all, int *ret_trees, struct err *e)
{
	bool peers = (bundle->root_propagation & MS_SHARED) != 0;

	for (size_t i = 0; i < bundle->mount_count; i++) {
		const struct bundle_mount *m = &bundle->mounts[i];

		ret_trees[i] = -1;
		if (m->type != NULL ||
		    !(all || m->map_ids || (m->propagation == MS_SHARED && peers)))
			continue;
		ret_trees[i] = open_source(m);
		if (ret_trees[i] < 0 && errno != EPERM) /* EPERM: not our mounts; the child's */
			return err_set(e, errno, "cannot open %s for %s", m->source, m->target);
	}
	return 0;
}

int bundle_mounts_map(int tree, int user_ns, const struct bundle_mount *m, struct err *e)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
					 .userns_fd = (uint64_t)user_ns };
	unsigned int flags = AT_EMPTY_PATH | (m->map_ids_all ? (unsigned int)AT_RECURSIVE : 0u);

	if (tree >= 0 && mount_setattr(tree, "", flags, &attributes, sizeof attributes) == 0)
		return 0;
	(void)err_set(e, tree < 0 ? EPERM : errno, "cannot map the owners of the files in %s",
		      m->target);
	return err_hint(e, "only root can, and not every file system: Linux 5.12 and later");
}

static int set_attributes(int tree, const struct bundle_mount *m, struct err *e)
{
	struct mount_attr all = { .attr_set = m->set_all, .attr_clr = m->clear_all };
	struct mount_attr one = { .attr_set = m->set, .attr_clr = m->clear };
	struct mount_attr how = { .propagation = m->propagation };

	if ((m->set_all | m->clear_all) != 0 &&
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &all, sizeof all) < 0)
		return err_set(e, errno, "cannot set the recursive options of %s", m->target);
	if ((m->set | m->clear) != 0 &&
	    mount_setattr(tree, "", AT_EMPTY_PATH, &one, sizeof one) < 0)
		return err_set(e, errno, "cannot set the options of %s", m->target);
	if (m->propagation != 0 &&
	    mount_setattr(tree, "", AT_EMPTY_PATH | (m->propagation_all ? AT_RECURSIVE : 0), &how,
			  sizeof how) < 0)
		return err_set(e, errno, "cannot set the propagation of %s", m->target);
	return 0;
}

static int attach(int tree, int target, const struct bundle_mount *m, struct err *e)
{
	if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot mount %s on %s", m->source, m->target);
	return set_attributes(tree, m, e);
}

static int bind(int root, const struct bundle_mount *m, int opened, struct err *e)
{
	autoclose int own = opened < 0 ? open_source(m) : -1;
	autoclose int target = -1;
	int tree = opened < 0 ? own : opened, r;
	struct stat source;

	if (tree < 0 || fstat(tree, &source) < 0)
		return err_set(e, errno, "cannot open %s for %s", m->source, m->target);
	r = file_make_mount_point(root, m->target, S_ISDIR(source.st_mode), &target, e);
	return r < 0 ? r : attach(tree, target, m, e);
}

/* The words of mount(2) for what mount_setattr(2) calls otherwise.  Read-only comes later: for
 * some file systems it would be a property of all their mounts. */
static unsigned long mount_flags(const struct bundle_mount *m)
{
	unsigned long flags = m->super | (m->set & (MS_NOSUID | MS_NODEV | MS_NOEXEC));

	flags |= m->set & MOUNT_ATTR_NOATIME ? MS_NOATIME : 0;
	flags |= m->set & MOUNT_ATTR_STRICTATIME ? MS_STRICTATIME : 0;
	flags |= m->set & MOUNT_ATTR_NODIRATIME ? MS_NODIRATIME : 0;
	return flags;
}

/* In a user namespace that does not own the other one, only the host's mount is to be had. */
static int mount_from_host(int root, const struct bundle_mount *m, struct err *e)
{
	static const char *const paths[][2] = { { "sysfs", "/sys" },
						{ "proc", "/proc" },
						{ "mqueue", "/dev/mqueue" } };

	for (size_t i = 0; i < 3; i++) {
		struct bundle_mount from = *m;

		if (strcmp(m->type, paths[i][0]) != 0)
			continue;
		from.source = paths[i][1];
		from.with_submounts = true;
		from.clear = from.clear_all = 0;
		return bind(root, &from, -1, e);
	}
	return -EPERM;
}

static int mount_new(int root, const struct bundle_mount *m, struct err *e)
{
	autoclose int below = -1, top = -1;
	const char *source = m->source != NULL ? m->source : m->type;
	int r = file_make_mount_point(root, m->target, true, &below, e);

	if (r < 0)
		return r;
	if (fchdir(below) < 0)
		return err_set(e, errno, "cannot enter %s", m->target);
	if (mount(source, ".", m->type, mount_flags(m), m->data) < 0) {
		(void)err_set(e, errno, "cannot mount %s on %s", m->type, m->target);
		return e->code == EPERM && mount_from_host(root, m, e) == 0 ? 0 : -e->code;
	}
	top = file_open_beneath(root, m->target, O_PATH | O_DIRECTORY);
	if (top < 0)
		return err_set(e, -top, "cannot open %s", m->target);
	if (m->copy_up) {
		r = copy_tree(below, top, e);
		if (r < 0)
			return r;
	}
	return set_attributes(top, m, e);
}

static int mount_view(int folder, const struct cgroup_view *v, unsigned long flags, struct err *e)
{
	autoclose int place = -1, tree = -1;
	char options[100];

	if (mkdirat(folder, v->name, 0755) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the folder of cgroup tree %s", v->name);
	place = openat(folder, v->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0 || fchdir(place) < 0)
		return err_set(e, errno, "cannot enter the folder of cgroup tree %s", v->name);
	snprintf(options, sizeof options, "%s%s",
		 strncmp(v->controllers, "name=", 5) == 0 ? "none," : "", v->controllers);
	if (v->own && mount("cgroup", ".", v->unified ? "cgroup2" : "cgroup", flags,
			    v->unified ? NULL : options) == 0)
		return 0;
	tree = open_tree(AT_FDCWD, v->dir, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 ||
	    move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "cannot mount the cgroup tree %s", v->name);
	return 0;
}

/* v1, alone or beside v2: a folder with one tree for each list of controllers. */
static int mount_cgroups(int root, const struct bundle_mount *m, const struct cgroup_view *views,
			 size_t count, struct err *e)
{
	struct bundle_mount folder = *m;
	struct mount_attr read_only = { .attr_set = m->set & MOUNT_ATTR_RDONLY };
	autoclose int top = -1;
	int r;

	folder.type = folder.source = "tmpfs";
	folder.data = (char *)"mode=755";
	folder.set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	folder.propagation = 0;
	r = mount_new(root, &folder, e);
	if (r < 0)
		return r;
	top = file_open_beneath(root, m->target, O_PATH | O_DIRECTORY);
	if (top < 0)
		return err_set(e, -top, "cannot open %s", m->target);
	for (size_t i = 0; r == 0 && i < count; i++) {
		char words[100], *rest = words, *word;

		r = mount_view(top, &views[i], mount_flags(m), e);
		snprintf(words, sizeof words, "%s", views[i].controllers);
		while (r == 0 && strchr(views[i].controllers, ',') != NULL &&
		       (word = strsep(&rest, ",")) != NULL)
			if (symlinkat(views[i].name, top, word) < 0 && errno != EEXIST)
				r = err_set(e, errno, "cannot link the cgroup tree %s", word);
	}
	if (r == 0 && read_only.attr_set != 0 &&
	    mount_setattr(top, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only, sizeof read_only) < 0)
		r = err_set(e, errno, "cannot make %s read-only", m->target);
	return r;
}

/* Others are mounted in it, and /dev gets its devices, by folders and files that we make there. */
static bool is_sealed_late(const struct bundle_mount *m)
{
	return m->type != NULL && strcmp(m->type, "tmpfs") == 0 &&
	       (m->set & MOUNT_ATTR_RDONLY) != 0;
}

bool bundle_mounts_want_seal(const struct bundle *bundle)
{
	for (size_t i = 0; i < bundle->mount_count; i++)
		if (is_sealed_late(&bundle->mounts[i]))
			return true;
	return false;
}

int bundle_mounts_seal(const struct bundle *bundle, const int *trees, struct err *e)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	for (size_t i = 0; i < bundle->mount_count; i++)
		if (is_sealed_late(&bundle->mounts[i]) &&
		    mount_setattr(trees[i], "", AT_EMPTY_PATH, &read_only, sizeof read_only) < 0)
			return err_set(e, errno, "cannot make %s read-only",
				       bundle->mounts[i].target);
	return 0;
}

static int mount_sealed_late(int root, const struct bundle_mount *m, int *ret_top, struct err *e)
{
	struct bundle_mount open = *m;
	int r;

	open.set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	r = mount_new(root, &open, e);
	if (r < 0)
		return r;
	r = file_open_beneath(root, m->target, O_PATH | O_DIRECTORY);
	if (r < 0)
		return err_set(e, -r, "cannot open %s", m->target);
	*ret_top = r;
	return 0;
}

int bundle_mounts_make(int root, const struct bundle *bundle, int *trees,
		       const struct cgroup_view *views, size_t view_count, struct err *e)
{
	for (size_t i = 0; i < bundle->mount_count; i++) {
		struct bundle_mount m = bundle->mounts[i];
		bool cgroups = m.type != NULL && strncmp(m.type, "cgroup", 6) == 0;
		int r;

		if (cgroups && view_count == 1 && views[0].unified) {
			m.type =
				views[0].own ? "cgroup2" : NULL; /* engines write cgroup for both */
			m.source = views[0].own ? "cgroup2" : views[0].dir;
		}
		if (m.type == NULL)
			r = bind(root, &m, trees[i], e);
		else if (cgroups && strcmp(m.type, "cgroup") == 0)
			r = mount_cgroups(root, &m, views, view_count, e);
		else if (is_sealed_late(&m))
			r = mount_sealed_late(root, &m, &trees[i], e);
		else
			r = mount_new(root, &m, e);
		if (r < 0)
			return r;
	}
	return 0;
}
