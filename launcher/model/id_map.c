/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/id_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

static bool overlap(uint32_t a, uint32_t b, uint32_t a_count, uint32_t b_count)
{
	return (uint64_t)a < (uint64_t)b + b_count && (uint64_t)b < (uint64_t)a + a_count;
}

int id_map_add(struct id_map *map, struct id_range new, struct err *e)
{
	if (new.count == 0)
		return err_set(e, EINVAL, "a range of no ids");
	/* The last id, 4294967295, means "no change" to system calls and cannot be mapped. */
	if ((uint64_t) new.inside + new.count > UINT32_MAX ||
	    (uint64_t) new.outside + new.count > UINT32_MAX)
		return err_set(e, EINVAL, "range %u:%u:%u ends beyond id 4294967294", new.inside,
			       new.outside, new.count);
	if (map->count == ID_RANGES_MAX)
		return err_set(e, EINVAL, "more than %d ranges", ID_RANGES_MAX);
	for (unsigned int i = 0; i < map->count; i++) {
		const struct id_range *old = &map->ranges[i];

		if (overlap(old->inside, new.inside, old->count, new.count) ||
		    overlap(old->outside, new.outside, old->count, new.count))
			return err_set(e, EINVAL, "range %u:%u:%u overlaps %u:%u:%u", new.inside,
				       new.outside, new.count, old->inside, old->outside,
				       old->count);
	}
	map->ranges[map->count++] = new;
	return 0;
}

int id_map_parse(const char *text, struct id_map *map, struct err *e)
{
	char copy[512], *rest = copy, *word;

	if (strlen(text) >= sizeof copy)
		return err_set(e, EINVAL, "a map of more than %zu characters", sizeof copy - 1);
	strcpy(copy, text);
	while ((word = text_next_field(&rest, ',')) != NULL) {
		uint64_t number[3];
		unsigned int n = 0;
		char *fields = word, *field;
		size_t at = (size_t)(word - copy), length = strlen(word);
		int r;

		while ((field = text_next_field(&fields, ':')) != NULL) {
			if (n == 3 || !text_to_number(field, UINT32_MAX, &number[n]))
				break;
			n++;
		}
		if (n != 3 || field != NULL) {
			(void)err_set(e, EINVAL, "'%.*s' is not a range of ids", (int)length,
				      text + at);
			return err_hint(e,
					"INSIDE:OUTSIDE:COUNT[,...], for example 0:100000:65536");
		}
		r = id_map_add(map,
			       (struct id_range){ (uint32_t)number[0], (uint32_t)number[1],
						  (uint32_t)number[2] },
			       e);
		if (r < 0)
			return r;
	}
	return 0;
}

bool id_map_outside(const struct id_map *map, uint32_t inside, uint32_t *ret_outside)
{
	for (const struct id_range *r = map->ranges; r < map->ranges + map->count; r++)
		if (inside >= r->inside && inside - r->inside < r->count) {
			*ret_outside = r->outside + (inside - r->inside);
			return true;
		}
	return false;
}

bool id_map_is_identity(const struct id_map *map)
{
	for (const struct id_range *r = map->ranges; r < map->ranges + map->count; r++)
		if (r->inside != r->outside)
			return false;
	return true;
}

size_t id_map_format(const struct id_map *map, char separator, char text[static ID_MAP_TEXT])
{
	size_t length = 0;

	text[0] = '\0';
	for (const struct id_range *r = map->ranges; r < map->ranges + map->count; r++)
		length += (size_t)snprintf(text + length, ID_MAP_TEXT - length, "%u %u %u%c",
					   r->inside, r->outside, r->count, separator);
	return length;
}
