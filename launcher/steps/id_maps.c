/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/id_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/helper.h"
#include "base/text.h"

/* "All ids as they are" means: all that we have ourselves, which is less inside a container. */
static int write_own_extents(const char *path, const char *own_path, struct err *e)
{
	char own[1024], *rest = own, *line, map[ID_MAP_TEXT];
	struct id_map all = { 0 };
	int r = file_read(own_path, own, sizeof own, e);

	if (r < 0)
		return r;
	while ((line = text_next_field(&rest, '\n')) != NULL) {
		struct id_range range;

		if (sscanf(line, "%u %*u %u", &range.inside, &range.count) != 2)
			continue;
		range.outside = range.inside;
		r = id_map_add(&all, range, e);
		if (r < 0)
			return r;
	}
	return file_write(path, map, id_map_format(&all, '\n', map), e);
}

static int write_map(pid_t pid, const char *file, const struct id_map *map, struct err *e)
{
	char path[40], own_path[40], text[ID_MAP_TEXT];
	int r;

	snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
	r = file_write(path, text, id_map_format(map, '\n', text), e);
	if (r != -EPERM)
		return r;
	if (map->count == 1 && map->ranges[0].count == UINT32_MAX) {
		snprintf(own_path, sizeof own_path, "/proc/self/%s", file);
		return write_own_extents(path, own_path, e);
	}
	return err_hint(e, "without root only your own id can be mapped, or ranges that "
			   "/etc/subuid and /etc/subgid give you");
}

int id_maps_write(pid_t pid, const struct id_map *users, const struct id_map *groups,
		  bool deny_setgroups, struct err *e)
{
	char path[40];
	int r;

	if (deny_setgroups) { /* else an unprivileged gid_map is refused, user_namespaces(7) */
		snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
		r = file_write(path, "deny", strlen("deny"), e);
		if (r < 0)
			return r;
	}
	r = write_map(pid, "uid_map", users, e);
	return r < 0 ? r : write_map(pid, "gid_map", groups, e);
}

static int run_helper(const char *helper, pid_t pid, const struct id_map *map, struct err *e)
{
	char words[ID_MAP_TEXT], pid_word[12], *rest = words;
	const char *argv[3 + 3 * ID_RANGES_MAX] = { helper, pid_word };
	size_t n = 2;
	int r;

	snprintf(pid_word, sizeof pid_word, "%d", pid);
	words[id_map_format(map, ' ', words) - 1] = '\0';
	while ((argv[n] = text_next_field(&rest, ' ')) != NULL)
		n++;
	r = helper_run(argv, e);
	return r == 0 ? 0
		      : err_hint(e, "the package is uidmap, the ranges are in /etc/subuid and "
				    "/etc/subgid; --map-users self does without");
}

int id_maps_write_by_helper(pid_t pid, const struct id_map *users, const struct id_map *groups,
			    struct err *e)
{
	int r = run_helper("newuidmap", pid, users, e);

	return r < 0 ? r : run_helper("newgidmap", pid, groups, e);
}
