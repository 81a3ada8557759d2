/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_id_maps.c - "uidMappings" and "gidMappings" of a new user namespace */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "base/err.h"
#include "front/doc.h"
#include "front/oci_config.h"

int oci_id_map_read(const struct json *object, const char *key, struct id_map *ret, struct err *e)
{
	const struct json *list;
	size_t count;
	int r = doc_array(object, key, &list, &count, e);

	for (size_t i = 0; r == 0 && i < count; i++) {
		int64_t inside = -1, outside = -1, size = -1;
		const struct json *range = doc_at(list, i);

		r = doc_integer(range, "containerID", 0, UINT32_MAX, &inside, e);
		if (r == 0)
			r = doc_integer(range, "hostID", 0, UINT32_MAX, &outside, e);
		if (r == 0)
			r = doc_integer(range, "size", 1, UINT32_MAX, &size, e);
		if (r == 0 && (inside < 0 || outside < 0 || size < 0))
			r = err_set(e, EINVAL, "'%s' lacks containerID, hostID or size", key);
		if (r == 0)
			r = id_map_add(ret,
				       (struct id_range){ (uint32_t)inside, (uint32_t)outside,
							  (uint32_t)size },
				       e);
	}
	return r;
}

int oci_id_maps_read(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	struct container_spec *s = &c->spec;

	if (oci_id_map_read(linux_part, "uidMappings", &s->users, e) < 0 ||
	    oci_id_map_read(linux_part, "gidMappings", &s->groups, e) < 0)
		return -e->code;
	if (!creates(s, CLONE_NEWUSER)) {
		if (s->join[NS_USER] == NULL && s->users.count + s->groups.count > 0)
			return err_set(e, EINVAL, "id mappings without a user namespace");
		return 0;
	}
	if (s->users.count == 0 || s->groups.count == 0)
		return err_set(e, EINVAL, "a new user namespace needs uidMappings and gidMappings");
	/* One id alone is what the kernel lets anybody map; more needs root, or the helpers. */
	if (geteuid() != 0) {
		s->map_by_helper = s->users.count > 1 || s->users.ranges[0].count > 1 ||
				   s->groups.count > 1 || s->groups.ranges[0].count > 1;
		s->deny_setgroups = !s->map_by_helper;
	}
	return 0;
}
