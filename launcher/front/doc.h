/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* doc.h - strict reading and simple writing of JSON objects
 *
 * A key that is absent or null leaves the result as it was; one of the wrong type is an error
 * that names it.  What is read lives as long as its document.
 *
 * This file is the one that timens-oci meets jansson in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json;

/* Parses a text, which ends with a zero byte and may be changed; `name` is for the message.
 * Numbers from 2^63 to 2^64-1 become the negative ones of the same bits ("no limit" is -1).
 * Returns 0, or -EINVAL with *e filled. */
int doc_parse(char *text, size_t length, const char *name, struct json **ret, struct err *e);

struct json *doc_get(const struct json *object, const char *key); /* NULL: absent or null */
int doc_object(const struct json *object, const char *key, const struct json **ret, struct err *e);
/* *ret_count is 0 for an absent one. */
int doc_array(const struct json *object, const char *key, const struct json **ret,
	      size_t *ret_count, struct err *e);
const struct json *doc_at(const struct json *array, size_t i);
int doc_text(const struct json *object, const char *key, const char **ret, struct err *e);
int doc_flag(const struct json *object, const char *key, bool *ret, struct err *e);
int doc_integer(const struct json *object, const char *key, int64_t min, int64_t max, int64_t *ret,
		struct err *e);
/* A NULL-terminated list of strings; NULL for an absent one. */
int doc_texts(const struct json *object, const char *key, char ***ret, struct err *e);
const char *doc_as_text(const struct json *value); /* NULL: not a string */

/* Calls visit() for each member until it returns other than 0, which is then returned. */
int doc_each(const struct json *object,
	     int (*visit)(const char *key, const struct json *value, void *arg, struct err *e),
	     void *arg, struct err *e);

/* Writing.  Lack of memory is kept inside and told by doc_format(). */
struct json *doc_new_object(void);
struct json *doc_new_array(void);
void doc_set(struct json *object, const char *key, struct json *value); /* takes value over */
void doc_set_text(struct json *object, const char *key, const char *value);
void doc_set_integer(struct json *object, const char *key, int64_t value);
void doc_set_flag(struct json *object, const char *key, bool value);
void doc_append(struct json *array, struct json *value); /* takes value over */
void doc_append_text(struct json *array, const char *value);
struct json *doc_keep(const struct json *value); /* the same value, for a second document */
/* The text with a final newline, or NULL; the caller frees it.  indent 0: one line. */
char *doc_format(const struct json *value, unsigned int indent);
