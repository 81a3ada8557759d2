/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* config.json of an OCI bundle, as engines write it: read and judged, nothing is run. */
#undef NDEBUG
#include <assert.h>

#include "base/err.h"
#include "front/oci_config.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_memory.h"
#include "model/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct oci_clock_flags no_flags;
	static struct oci_config config;
	const char *path = fuzz_file("config.json", data, size);
	struct err e = { 0 };

	memset(&config, 0, sizeof config);
	fuzz_run_begins();
	if (oci_config_load(path, fuzz_folder, &no_flags, &config, &e) < 0 ||
	    spec_check(&config.spec, &e) < 0)
		assert(e.code > 0 && e.text[0] != '\0');
	else
		assert(config.spec.root != NULL && config.spec.argv != NULL);
	fuzz_run_ends();
	return 0;
}
