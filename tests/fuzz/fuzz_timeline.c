/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timeline files.: one that is accepted is written the same again. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "fuzz.h"
#include "model/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), again[TIMELINE_TEXT_SIZE];
	struct timeline_entry entry;
	struct err e = { 0 };

	if (timeline_parse(text, size, &entry, &e) == 0)
		assert(timeline_format(&entry, again) == size && memcmp(text, again, size) == 0);
	free(text);
	return 0;
}
