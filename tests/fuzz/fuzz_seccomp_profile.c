/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seccomp profiles in JSON, for a payload with half of all capabilities. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/seccomp_profile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct profile_facts facts = { .capabilities = UINT64_C(0x5555555555),
					     .kernel_version = { 6, 1 } };
	struct seccomp_filter filter = { 0 };
	char *text = fuzz_text(data, size);
	struct err e = { 0 };

	if (seccomp_profile_compile(text, size, &facts, &filter, &e) == 0) {
		assert(filter.program.len > 0);
		free(filter.program.filter);
	} else {
		assert(e.code > 0 && e.text[0] != '\0');
	}
	free(text);
	return 0;
}
