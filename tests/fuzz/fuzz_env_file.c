/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of --env-file: every entry that comes of one has a name. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/environment.h"
#include "front/request.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char word[sizeof fuzz_path + 1] = "=";
	char *words[] = { word };
	struct request q = { .clear_env = true, .env = words, .env_count = 1 };
	struct err e = { 0 };

	snprintf(word + 1, sizeof word - 1, "%s", fuzz_file("env", data, size));
	fuzz_run_begins();
	if (environment_complete(&q, &e) < 0)
		assert(e.code > 0 && e.text[0] != '\0');
	else
		for (char **entry = q.spec.env; *entry != NULL; entry++) {
			assert(strchr(*entry, '=') > *entry && strchr(*entry, '\n') == NULL);
			for (char **earlier = q.spec.env; earlier < entry; earlier++)
				assert(strncmp(*earlier, *entry, strcspn(*entry, "=") + 1) != 0);
		}
	fuzz_run_ends();
	return 0;
}
