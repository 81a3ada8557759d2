/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* id_map.h - which user or group id inside is which outside, user_namespaces(7) */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { ID_RANGES_MAX = 16 };

struct id_range {
	uint32_t inside, outside, count;
};

struct id_map {
	unsigned int count;
	struct id_range ranges[ID_RANGES_MAX];
};

/* Adds "INSIDE:OUTSIDE:COUNT[,...]".  Returns 0, or -EINVAL with *e filled: not such a list, too
 * many ranges, a range that is empty, too long, or overlaps another on either side. */
int id_map_parse(const char *text, struct id_map *map, struct err *e);

/* Adds one range; same refusals. */
int id_map_add(struct id_map *map, struct id_range range, struct err *e);

/* The id outside of an id inside; false if it has none. */
bool id_map_outside(const struct id_map *map, uint32_t inside, uint32_t *ret_outside);

/* True if every id inside is the same id outside. */
bool id_map_is_identity(const struct id_map *map);

enum { ID_MAP_TEXT = ID_RANGES_MAX * 33 + 1 };

/* Writes the lines of /proc/PID/uid_map, or with ' ' the words of newuidmap(1). */
size_t id_map_format(const struct id_map *map, char separator, char text[static ID_MAP_TEXT]);
