/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/doc.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static json_t *plain(const struct json *j)
{
	return (json_t *)(uintptr_t)j;
}

static struct json *ours(json_t *j)
{
	return json_is_null(j) ? NULL : (struct json *)j;
}

static int wrong_type(const char *key, const char *wanted, struct err *e)
{
	return err_set(e, EINVAL, "'%s' must be %s", key, wanted);
}

/* 2^64-1 and the like, which engines write for "no limit", do not fit into jansson's numbers:
 * they are made the negative numbers of the same bits, in place. */
static void fold_large_numbers(char *text)
{
	bool quoted = false;

	for (char *p = text; *p != '\0'; p++) {
		size_t digits = strspn(p, "0123456789");
		unsigned long long value;
		char folded[24];

		if (*p == '\\' && quoted && p[1] != '\0')
			p++;
		else if (*p == '"')
			quoted = !quoted;
		if (quoted || digits == 0)
			continue;
		errno = 0;
		value = strtoull(p, NULL, 10);
		if (digits >= 19 && errno == 0 && value > INT64_MAX &&
		    strchr(".eE", p[digits]) == NULL && (p == text || p[-1] != '-')) {
			snprintf(folded, sizeof folded, "%*lld", (int)digits, (long long)value);
			if (strlen(folded) == digits)
				memcpy(p, folded, digits);
		}
		p += digits - 1;
	}
}

int doc_parse(char *text, size_t length, const char *name, struct json **ret, struct err *e)
{
	json_error_t why;
	json_t *root;

	fold_large_numbers(text);
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
	if (root == NULL)
		return err_set(e, EINVAL, "%s, line %d: %s", name, why.line, why.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return err_set(e, EINVAL, "%s is not a JSON object", name);
	}
	*ret = (struct json *)root;
	return 0;
}

struct json *doc_get(const struct json *object, const char *key)
{
	return ours(json_object_get(plain(object), key));
}

int doc_object(const struct json *object, const char *key, const struct json **ret, struct err *e)
{
	struct json *value = doc_get(object, key);

	if (value != NULL && !json_is_object(plain(value)))
		return wrong_type(key, "an object", e);
	*ret = value;
	return 0;
}

int doc_array(const struct json *object, const char *key, const struct json **ret,
	      size_t *ret_count, struct err *e)
{
	struct json *value = doc_get(object, key);

	if (value != NULL && !json_is_array(plain(value)))
		return wrong_type(key, "an array", e);
	*ret = value;
	*ret_count = json_array_size(plain(value));
	return 0;
}

const struct json *doc_at(const struct json *array, size_t i)
{
	return ours(json_array_get(plain(array), i));
}

const char *doc_as_text(const struct json *value)
{
	return json_string_value(plain(value));
}

int doc_text(const struct json *object, const char *key, const char **ret, struct err *e)
{
	struct json *value = doc_get(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_string(plain(value)))
		return wrong_type(key, "a string", e);
	*ret = json_string_value(plain(value));
	return 0;
}

int doc_flag(const struct json *object, const char *key, bool *ret, struct err *e)
{
	struct json *value = doc_get(object, key);

	if (value == NULL)
		return 0;
	if (!json_is_boolean(plain(value)))
		return wrong_type(key, "true or false", e);
	*ret = json_is_true(plain(value));
	return 0;
}

int doc_integer(const struct json *object, const char *key, int64_t min, int64_t max, int64_t *ret,
		struct err *e)
{
	struct json *value = doc_get(object, key);
	int64_t number;

	if (value == NULL)
		return 0;
	if (!json_is_integer(plain(value)))
		return wrong_type(key, "a whole number", e);
	number = json_integer_value(plain(value));
	if (number < min || number > max)
		return err_set(e, ERANGE, "'%s' is %lld, but must be %lld to %lld", key,
			       (long long)number, (long long)min, (long long)max);
	*ret = number;
	return 0;
}

int doc_texts(const struct json *object, const char *key, char ***ret, struct err *e)
{
	const struct json *array = NULL;
	size_t count = 0;
	char **list;
	int r = doc_array(object, key, &array, &count, e);

	if (r < 0 || array == NULL)
		return r;
	list = calloc(count + 1, sizeof *list);
	if (list == NULL)
		return err_set(e, ENOMEM, "cannot keep '%s'", key);
	for (size_t i = 0; i < count; i++) {
		list[i] = (char *)(uintptr_t)doc_as_text(doc_at(array, i));
		if (list[i] == NULL) {
			free(list);
			return wrong_type(key, "a list of strings", e);
		}
	}
	*ret = list;
	return 0;
}

int doc_each(const struct json *object,
	     int (*visit)(const char *key, const struct json *value, void *arg, struct err *e),
	     void *arg, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach(plain(object), key, value)
	{
		int r = visit(key, ours(value), arg, e);

		if (r != 0)
			return r;
	}
	return 0;
}

struct json *doc_new_object(void)
{
	return (struct json *)json_object();
}

struct json *doc_new_array(void)
{
	return (struct json *)json_array();
}

/* jansson refuses a NULL value, so that want of memory ends in a text that lacks a member: the
 * callers write small documents, and doc_format() would fail then as well. */
void doc_set(struct json *object, const char *key, struct json *value)
{
	(void)json_object_set_new(plain(object), key, plain(value));
}

void doc_set_text(struct json *object, const char *key, const char *value)
{
	(void)json_object_set_new(plain(object), key, json_string(value));
}

void doc_set_integer(struct json *object, const char *key, int64_t value)
{
	(void)json_object_set_new(plain(object), key, json_integer(value));
}

void doc_set_flag(struct json *object, const char *key, bool value)
{
	(void)json_object_set_new(plain(object), key, json_boolean(value));
}

void doc_append(struct json *array, struct json *value)
{
	(void)json_array_append_new(plain(array), plain(value));
}

void doc_append_text(struct json *array, const char *value)
{
	(void)json_array_append_new(plain(array), json_string(value));
}

struct json *doc_keep(const struct json *value)
{
	return (struct json *)json_incref(plain(value));
}

char *doc_format(const struct json *value, unsigned int indent)
{
	char *text = json_dumps(plain(value), JSON_INDENT(indent));
	size_t length = text != NULL ? strlen(text) : 0;
	char *line = text != NULL ? realloc(text, length + 2) : NULL;

	if (line == NULL) {
		free(text);
		return NULL;
	}
	memcpy(line + length, "\n", 2);
	return line;
}
