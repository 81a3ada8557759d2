/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* own_ids.c - what user_namespaces(7) has left to us, where we are in a container ourselves */
#include "front/own_ids.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct id_map read_map(const char *path)
{
	struct id_map map = { 0 };
	uint32_t inside, outside, count;
	FILE *file = fopen(path, "re");

	while (file != NULL && map.count < ID_RANGES_MAX &&
	       fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
		map.ranges[map.count++] = (struct id_range){ inside, inside, count };
	if (file != NULL)
		(void)fclose(file); /* was only read */
	if (map.count == 0)
		map = (struct id_map){ .count = 1, .ranges = { { 0, 0, UINT32_MAX } } };
	return map;
}

struct id_map own_users(void)
{
	return read_map("/proc/self/uid_map");
}

struct id_map own_groups(void)
{
	return read_map("/proc/self/gid_map");
}

bool own_setgroups_denied(void)
{
	char word[8] = "";
	FILE *file = fopen("/proc/self/setgroups", "re");

	if (file == NULL)
		return false;
	(void)!fgets(word, sizeof word, file); /* nothing read is nothing denied */
	(void)fclose(file);
	return strncmp(word, "deny", 4) == 0;
}
