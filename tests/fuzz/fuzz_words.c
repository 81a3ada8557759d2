/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every parser that takes one word of a command line, or one line of a file. */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "fuzz.h"
#include "model/capability.h"
#include "model/clock_target.h"
#include "model/id_map.h"
#include "model/limits.h"
#include "model/namespaces.h"
#include "model/near_wrap.h"
#include "model/rlimit.h"

static void clocks(const char *text)
{
	char formatted[CLOCK_OFFSET_TEXT];
	struct clock_offset offset, again;
	struct clock_offsets both;
	struct err e = { 0 };

	if (clock_offset_parse(text, &offset, &e) == 0) {
		/* What is written out reads as the same. */
		(void)clock_offset_format(offset, formatted);
		assert(clock_offset_parse(formatted, &again, &e) == 0);
		assert(again.s == offset.s && again.ns == offset.ns);
		assert(offset.ns < 1000000000);
	}
	(void)clock_offsets_parse(text, &both);
	(void)uptime_parse(text, 12345, &offset, &e);
	(void)near_wrap_parse(text, &offset, &e);
}

static void ids(const char *text)
{
	struct id_map map = { 0 };
	struct err e = { 0 };
	uint32_t outside;

	if (id_map_parse(text, &map, &e) == 0) {
		assert(map.count > 0 && map.count <= ID_RANGES_MAX);
		assert(id_map_outside(&map, map.ranges[0].inside, &outside));
		assert(outside == map.ranges[0].outside);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct rlimit_setting limit;
	struct err e = { 0 };
	uint64_t value;
	uint32_t flags;

	clocks(text);
	ids(text);
	if (limits_parse_memory(text, &value, &e) == 0)
		assert(value >= 1 << 20);
	if (limits_parse_cpus(text, &value, &e) == 0)
		assert(value >= 1000);
	if (limits_parse_pids(text, &value, &e) == 0)
		assert(value >= 1);
	(void)capability_parse(text, &value, &e);
	(void)namespaces_parse(text, &flags, &e);
	(void)rlimit_parse(text, &limit, &e);
	(void)text_to_number(text, UINT64_MAX, &value);
	(void)text_list_has(text, "x");
	free(text);
	return 0;
}
