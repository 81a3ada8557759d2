/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of an image, which says what runs where no command is given. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/image_config.h"
#include "front/request.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char root[sizeof fuzz_path];
	struct request q = { 0 };
	struct err e = { 0 };

	(void)fuzz_file("root.config.json", data, size);
	snprintf(root, sizeof root, "%s/root", fuzz_folder);
	q.spec.root = root;
	fuzz_run_begins();
	if (image_config_apply(&q, &e) < 0)
		assert(e.code > 0 && e.text[0] != '\0');
	else
		assert(q.spec.argv[0] != NULL && q.image_env != NULL);
	fuzz_run_ends();
	return 0;
}
