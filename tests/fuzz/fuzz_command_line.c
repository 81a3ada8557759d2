/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Command lines, a word a line: read and judged, nothing is run. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/request.h"
#include "fuzz.h"
#include "model/check.h"

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request q = { 0 };
	char *argv[WORDS + 1] = { NULL };
	char *text = fuzz_text(data, size), *rest = text;
	struct err e = { 0 };

	for (int i = 0; i < WORDS && rest != NULL; i++)
		argv[i] = strsep(&rest, "\n");
	if (request_parse(&q, argv, &e) < 0)
		assert(e.code > 0 && e.text[0] != '\0');
	else if (!q.help && !q.version && q.answer == NULL)
		(void)spec_check(&q.spec, &e);
	free(q.spec.mounts);
	free(q.env);
	free(text);
	return 0;
}
