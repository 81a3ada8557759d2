/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/text.h"

#include <string.h>

bool text_to_number(const char *text, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		uint64_t digit = (uint64_t)(unsigned char)*text - '0';

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (value > max)
		return false;
	*ret_value = value;
	return true;
}

char *text_next_field(char **rest, char separator)
{
	char *field = *rest, *end;

	if (field == NULL)
		return NULL;
	end = strchr(field, separator);
	if (end != NULL)
		*end++ = '\0';
	*rest = end;
	return field;
}

bool text_list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list != NULL && *list != '\0') {
		const char *end = strchrnul(list, ',');

		if ((size_t)(end - list) == length && memcmp(list, word, length) == 0)
			return true;
		list = *end != '\0' ? end + 1 : end;
	}
	return false;
}
