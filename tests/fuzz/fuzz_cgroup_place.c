/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/self/cgroup and /proc/self/mountinfo: the input is the one, a NUL, and the other. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "fuzz.h"
#include "model/cgroup_place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cgroup_place place;
	const uint8_t *cut = size > 0 ? memchr(data, '\0', size) : NULL;
	size_t first = cut != NULL ? (size_t)(cut - data) : size;
	char *own = fuzz_text(data, first);
	char *mounts = cut != NULL ? fuzz_text(cut + 1, size - first - 1) : fuzz_text(data, 0);
	struct err e = { 0 };

	if (cgroup_place_find(own, mounts, "memory", &place, &e) == 0) {
		assert(strlen(place.dir) < sizeof place.dir);
		assert(place.mount_len <= sizeof place.dir);
	}
	free(own);
	free(mounts);
	return 0;
}
