/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_idmap.c - mounts whose files change owners on the way in
 *
 * The kernel takes the mapping from a user namespace.  It is that of the container, or one that is
 * made for the mount alone by a process that does nothing else.
 *
 * Source: mount_setattr(2), "ID-mapped mounts"; config.md, "mounts", uidMappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/bundle.h"
#include "engine/channel.h"
#include "model/bundle.h"
#include "model/container_spec.h"
#include "steps/id_maps.h"
#include "steps/namespaces.h"

static int open_user_namespace(pid_t pid, int *ret_fd, struct err *e)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? err_set(e, errno, "cannot open %s", path) : 0;
}

/* The process lives until we close our end, or end ourselves. */
static int make_user_namespace(const struct mount_ids *ids, int *ret_fd, struct err *e)
{
	autoclose int ours = -1, theirs = -1;
	struct err ignored;
	pid_t pid;
	int r = channel_open(&ours, &theirs, e);

	if (r < 0)
		return r;
	pid = namespaces_clone(CLONE_NEWUSER, -1, e);
	if (pid < 0)
		return pid;
	if (pid == 0) {
		close(take_fd(&ours));
		(void)channel_expect(theirs, NOTE_END_OF_FILE, NULL, &ignored);
		_exit(0);
	}
	r = id_maps_write(pid, &ids->users, &ids->groups, false, e);
	if (r == 0)
		r = open_user_namespace(pid, ret_fd, e);
	close(take_fd(&ours));
	close(take_fd(&theirs));
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

int bundle_map_mounts(struct container *c, struct err *e)
{
	const struct bundle *b = c->spec->bundle;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->mount_count; i++) {
		const struct bundle_mount *m = &b->mounts[i];
		autoclose int user_ns = -1;

		if (!m->map_ids)
			continue;
		r = m->ids != NULL ? make_user_namespace(m->ids, &user_ns, e)
				   : open_user_namespace(c->pid, &user_ns, e);
		if (r == 0)
			r = bundle_mounts_map(c->bundle->trees[i], user_ns, m, e);
	}
	return r;
}
