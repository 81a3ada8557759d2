/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A config.json that is edited in place, as timens-hook does it: what parsed before parses after,
 * with the new members in it. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/doc.h"
#include "front/json_text.h"
#include "fuzz.h"
#include "fuzz_memory.h"

static const char *const namespaces[] = { "linux", "namespaces", NULL };
static const char *const boottime[] = { "linux", "timeOffsets", "boottime", NULL };

static bool can_be_edited(const struct json *root, size_t *ret_count)
{
	const struct json *l, *offsets, *list;
	struct err e = { 0 };

	return doc_object(root, "linux", &l, &e) == 0 &&
	       doc_object(l, "timeOffsets", &offsets, &e) == 0 &&
	       doc_array(l, "namespaces", &list, ret_count, &e) == 0;
}

static void look_at_result(char *text, size_t count_before)
{
	const struct json *l, *offsets;
	struct err e = { 0 };
	int64_t value = 0;
	struct json *root;
	size_t count = 0;

	assert(doc_parse(text, strlen(text), "result", &root, &e) == 0);
	assert(can_be_edited(root, &count) && count == count_before + 1);
	assert(doc_object(root, "linux", &l, &e) == 0 &&
	       doc_object(l, "timeOffsets", &offsets, &e) == 0 &&
	       doc_integer(offsets, "boottime", 0, 100, &value, &e) == 0 && value == 42);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { 0 };
	struct json *root;
	char *parsed, *text;
	size_t count = 0;

	fuzz_run_begins();
	parsed = fuzz_text(data, size);
	text = fuzz_text(data, size);
	/* A key that is written with escapes is not found: its double is what the caller sees. */
	if (strlen(text) == size && strchr(text, '\\') == NULL &&
	    doc_parse(parsed, size, "input", &root, &e) == 0 && can_be_edited(root, &count)) {
		assert(json_text_append(&text, namespaces, "{\"type\": \"time\"}") == 0);
		assert(json_text_set(&text, boottime, "7") == 0);
		assert(json_text_set(&text, boottime, "42") == 0);
		look_at_result(text, count);
	}
	fuzz_run_ends();
	return 0;
}
