/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pure parts of the model: maps of ids, namespaces, limits of processes, default mounts. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "base/err.h"
#include "base/text.h"
#include "model/check.h"
#include "model/container_spec.h"

static void numbers_are_digits_within_bounds(void)
{
	uint64_t n = 7;

	assert(text_to_number("0", 0, &n) && n == 0);
	assert(text_to_number("18446744073709551615", UINT64_MAX, &n) && n == UINT64_MAX);
	assert(!text_to_number("18446744073709551616", UINT64_MAX, &n));
	assert(!text_to_number("", 9, &n) && !text_to_number(" 1", 9, &n));
	assert(!text_to_number("+1", 9, &n) && !text_to_number("1x", 9, &n));
	assert(!text_to_number("10", 9, &n) && n == UINT64_MAX);
}

static void fields_end_at_separators_and_may_be_empty(void)
{
	char text[] = "a::b", *rest = text;

	assert(strcmp(text_next_field(&rest, ':'), "a") == 0);
	assert(strcmp(text_next_field(&rest, ':'), "") == 0);
	assert(strcmp(text_next_field(&rest, ':'), "b") == 0);
	assert(text_next_field(&rest, ':') == NULL);
}

static void maps_translate_what_they_hold_and_nothing_else(void)
{
	struct id_map map = { 0 };
	struct err e;
	uint32_t outside = 0;
	char text[ID_MAP_TEXT];

	assert(id_map_parse("0:1000:1,1:100000:65536", &map, &e) == 0);
	assert(id_map_outside(&map, 0, &outside) && outside == 1000);
	assert(id_map_outside(&map, 65536, &outside) && outside == 165535);
	assert(!id_map_outside(&map, 65537, &outside));
	assert(!id_map_is_identity(&map));
	assert(id_map_format(&map, '\n', text) == strlen(text));
	assert(strcmp(text, "0 1000 1\n1 100000 65536\n") == 0);
}

static void a_full_map_fits_its_text(void)
{
	struct id_map map = { 0 };
	struct err e;
	char text[ID_MAP_TEXT];

	for (uint32_t i = 0; i < ID_RANGES_MAX; i++)
		assert(id_map_add(&map, (struct id_range){ 4294967000 + i, 4294967000 + i, 1 },
				  &e) == 0);
	assert(id_map_is_identity(&map));
	assert(id_map_format(&map, ' ', text) == strlen(text));
	assert(id_map_add(&map, (struct id_range){ 0, 0, 1 }, &e) == -EINVAL);
}

static void every_namespace_is_found_by_its_own_name_only(void)
{
	uint32_t all = 0;
	struct err e;

	for (enum namespace_kind k = 0; k < NS_COUNT; k++) {
		const char *name = namespaces[k].name;

		assert(namespace_find(name, (unsigned int)strlen(name)) == k);
		assert((all & namespaces[k].flag) == 0);
		all |= namespaces[k].flag;
	}
	assert(namespace_find("pid_for_children", 16) == NS_COUNT);
	assert(namespaces_parse("time,net", &all, &e) == 0);
	assert(all == (CLONE_NEWTIME | CLONE_NEWNET));
}

static void limits_of_processes_have_two_values(void)
{
	struct rlimit_setting s;
	struct err e;

	assert(rlimit_parse("nofile=10:unlimited", &s, &e) == 0);
	assert(s.resource == RLIMIT_NOFILE && s.value.rlim_cur == 10);
	assert(s.value.rlim_max == RLIM_INFINITY);
	assert(rlimit_parse("core=0", &s, &e) == 0 && s.value.rlim_max == 0);
	assert(strcmp(rlimit_name(RLIMIT_CORE), "core") == 0);
}

static const struct mount *find(const struct mount *mounts, size_t count, const char *target)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(mounts[i].target, target) == 0)
			return &mounts[i];
	return NULL;
}

static void default_mounts_follow_the_namespaces(void)
{
	struct container_spec spec = { .root = "/r", .new_namespaces = UINT32_MAX };
	struct mount m[MOUNT_DEFAULTS_MAX];
	size_t n = mount_defaults(&spec, m);

	assert(n == MOUNT_DEFAULTS_MAX - 1);
	assert(strcmp(find(m, n, "/proc")->type, "proc") == 0);
	assert(find(m, n, "/sys")->flags & MS_RDONLY);
	assert(strstr(find(m, n, "/dev/pts")->data, "gid=") == NULL); /* group 5 is not mapped */

	spec.new_namespaces &= ~(uint32_t)(CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC);
	n = mount_defaults(&spec, m);
	assert(find(m, n, "/proc")->type == NULL && find(m, n, "/sys")->type == NULL);
	assert(strcmp(find(m, n, "/dev/mqueue")->source, "/dev/mqueue") == 0);

	spec.proc = spec.sys = spec.dev = TREE_NONE;
	assert(mount_defaults(&spec, m) == 0);

	spec = (struct container_spec){ .new_namespaces = CLONE_NEWPID | CLONE_NEWNS };
	assert(mount_defaults(&spec, m) == 1 && strcmp(m[0].target, "/proc") == 0);
}

int main(void)
{
	numbers_are_digits_within_bounds();
	fields_end_at_separators_and_may_be_empty();
	maps_translate_what_they_hold_and_nothing_else();
	a_full_map_fits_its_text();
	every_namespace_is_found_by_its_own_name_only();
	limits_of_processes_have_two_values();
	default_mounts_follow_the_namespaces();
	return 0;
}
