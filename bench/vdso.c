/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vdso.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
	const char *base; /* what has to be added to the addresses in the image */
	const ElfW(Sym) * symbols;
	const char *names;
	size_t symbol_count;
};

/* How many symbols a GNU hash table covers: one more than the end of its last chain. */
static size_t gnu_hash_count(const uint32_t *hash)
{
	uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
	const uint32_t *buckets = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof *hash);
	const uint32_t *chains = buckets + bucket_count;

	for (uint32_t i = 0; i < bucket_count; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < first)
		return first;
	while (!(chains[last - first] & 1))
		last++;
	return last + 1;
}

static bool image_read(const char *start, struct image *ret_image)
{
	const ElfW(Ehdr) *header = (const void *)start;
	const ElfW(Phdr) *segments = (const void *)(start + header->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	struct image im = { 0 };

	for (unsigned int i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && !im.base)
			im.base = start + segments[i].p_offset - segments[i].p_vaddr;
		else if (segments[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(start + segments[i].p_offset);
	}
	if (!im.base || !dynamic)
		return false;
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = im.base + dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			im.symbols = at;
		else if (dynamic->d_tag == DT_STRTAB)
			im.names = at;
		else if (dynamic->d_tag == DT_HASH)
			im.symbol_count = ((const uint32_t *)at)[1];
		else if (dynamic->d_tag == DT_GNU_HASH && im.symbol_count == 0)
			im.symbol_count = gnu_hash_count(at);
	}
	*ret_image = im;
	return im.symbols && im.names;
}

const void *vdso_function(const char *symbol)
{
	const char *start = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct image im;

	if (!symbol || !start || !image_read(start, &im))
		return NULL;
	for (size_t i = 0; i < im.symbol_count; i++) {
		const ElfW(Sym) *s = &im.symbols[i];

		if (s->st_shndx != SHN_UNDEF && strcmp(im.names + s->st_name, symbol) == 0)
			return im.base + s->st_value;
	}
	return NULL;
}
