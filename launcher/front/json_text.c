/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/json_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Offsets into the text: of the first character, and of the one behind the last. */
struct span {
	size_t start, end;
};

static size_t skip_space(const char *text, size_t at)
{
	return at + strspn(text + at, " \t\r\n");
}

static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] != '"'; at++)
		at += text[at] == '\\';
	return at + 1;
}

static size_t skip_value(const char *text, size_t at)
{
	size_t depth = 0;

	do {
		if (text[at] == '"')
			at = skip_string(text, at);
		else if (strchr("{[", text[at]) != NULL) {
			depth++;
			at++;
		} else if (strchr("}]", text[at]) != NULL) {
			depth--;
			at++;
		} else
			at += 1 + strcspn(text + at + 1, "\"{}[], \t\r\n");
	} while (depth > 0);
	return at;
}

/* The value of a member of the object that starts at `object`. */
static bool find_member(const char *text, size_t object, const char *key, struct span *ret)
{
	size_t at = skip_space(text, object + 1);

	while (text[at] == '"') {
		size_t name = at + 1, length = skip_string(text, at) - 1 - name;

		at = skip_space(text, name + length + 1) + 1; /* over the colon */
		ret->start = skip_space(text, at);
		ret->end = skip_value(text, ret->start);
		if (strlen(key) == length && memcmp(text + name, key, length) == 0)
			return true;
		at = skip_space(text, ret->end);
		if (text[at] == ',')
			at = skip_space(text, at + 1);
	}
	return false;
}

static bool is_null(const char *text, struct span s)
{
	return s.end - s.start == 4 && memcmp(text + s.start, "null", 4) == 0;
}

static int replace(char **text, struct span old, const char *new)
{
	char *whole;

	if (asprintf(&whole, "%.*s%s%s", (int)old.start, *text, new, *text + old.end) < 0)
		return -ENOMEM;
	free(*text);
	*text = whole;
	return 0;
}

/* Adds a last entry to an object or array, laid out as the first one is. */
static int add_last(char **text, size_t container, const char *entry)
{
	size_t first = skip_space(*text, container + 1), end = skip_value(*text, container) - 1;
	autofree char *added = NULL;

	if (first == end)
		return replace(text, (struct span){ first, first }, entry);
	if (asprintf(&added, ",%.*s%s", (int)(first - container - 1), *text + container + 1,
		     entry) < 0)
		return -ENOMEM;
	while (strchr(" \t\r\n", (*text)[end - 1]) != NULL)
		end--;
	return replace(text, (struct span){ end, end }, added);
}

/* What stands for value when all keys of path have to be made around it. */
static char *wrap(const char *const *path, const char *value)
{
	autofree char *inner = *path != NULL ? wrap(path + 1, value) : NULL;
	char *whole;

	if (*path == NULL)
		return strdup(value);
	return inner != NULL && asprintf(&whole, "{\"%s\": %s}", *path, inner) > 0 ? whole : NULL;
}

/* Goes down the path as far as it is there.  Returns how many keys were found; *ret is the last
 * value reached. */
static size_t descend(const char *text, const char *const *path, struct span *ret)
{
	size_t found = 0;
	struct span next;

	ret->start = skip_space(text, 0);
	ret->end = skip_value(text, ret->start);
	while (path[found] != NULL && text[ret->start] == '{' &&
	       find_member(text, ret->start, path[found], &next)) {
		*ret = next;
		found++;
	}
	return found;
}

int json_text_set(char **text, const char *const *path, const char *value)
{
	struct span at;
	size_t found = descend(*text, path, &at);
	autofree char *whole = NULL, *entry = NULL;

	if (path[found] == NULL || is_null(*text, at)) {
		whole = wrap(path + found, value);
		return whole == NULL ? -ENOMEM : replace(text, at, whole);
	}
	whole = wrap(path + found + 1, value);
	if (whole == NULL || asprintf(&entry, "\"%s\": %s", path[found], whole) < 0)
		return -ENOMEM;
	return add_last(text, at.start, entry);
}

int json_text_append(char **text, const char *const *path, const char *value)
{
	struct span at;
	size_t found = descend(*text, path, &at);
	autofree char *list = NULL;

	if (path[found] == NULL && !is_null(*text, at))
		return add_last(text, at.start, value);
	if (asprintf(&list, "[%s]", value) < 0)
		return -ENOMEM;
	return json_text_set(text, path, list);
}
