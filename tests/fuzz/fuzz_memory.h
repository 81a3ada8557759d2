/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz_memory.h - for readers whose results live as long as the process
 *
 * What a run leaves allocated is given back after it, or millions of runs would not fit into
 * memory.  The caller keeps nothing from one run to the next.
 */
#pragma once

#include <sanitizer/allocator_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { FUZZ_BLOCKS_MAX = 1 << 16 };

static struct {
	const volatile void *blocks[FUZZ_BLOCKS_MAX];
	size_t count;
	bool on;
} fuzz_run;

static void fuzz_note_block(const volatile void *block, size_t size)
{
	(void)size;
	if (!fuzz_run.on)
		return;
	if (fuzz_run.count == FUZZ_BLOCKS_MAX)
		abort();
	fuzz_run.blocks[fuzz_run.count++] = block;
}

static void fuzz_forget_block(const volatile void *block)
{
	for (size_t i = fuzz_run.count; fuzz_run.on && i > 0; i--)
		if (fuzz_run.blocks[i - 1] == block) {
			fuzz_run.blocks[i - 1] = fuzz_run.blocks[--fuzz_run.count];
			return;
		}
}

static inline void fuzz_run_begins(void)
{
	static bool installed;

	if (!installed &&
	    !__sanitizer_install_malloc_and_free_hooks(fuzz_note_block, fuzz_forget_block))
		abort();
	installed = fuzz_run.on = true;
}

static inline void fuzz_run_ends(void)
{
	fuzz_run.on = false;
	while (fuzz_run.count > 0)
		free((void *)fuzz_run.blocks[--fuzz_run.count]);
}
