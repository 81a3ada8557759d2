/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vdso.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
	const char *base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_HASH: nbucket, nchain (the number of symbols), ... */
	const uint32_t *gnu_hash;
};

static struct image read_image(const ElfW(Ehdr) * header)
{
	const char *base = (const char *)header;
	const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	struct image image = { .base = base };

	for (int i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(base + segment[i].p_offset);
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = base + dynamic->d_un.d_ptr; /* the vDSO is linked at 0 */

		if (dynamic->d_tag == DT_SYMTAB)
			image.symbols = at;
		else if (dynamic->d_tag == DT_STRTAB)
			image.names = at;
		else if (dynamic->d_tag == DT_HASH)
			image.hash = at;
		else if (dynamic->d_tag == DT_GNU_HASH)
			image.gnu_hash = at;
	}
	return image;
}

/* The number of symbols.  Linux 6.7 and later leave DT_HASH out on some machines; then the end of
 * the longest chain of DT_GNU_HASH says it. */
static uint32_t count_symbols(const struct image *image)
{
	const uint32_t *h = image->gnu_hash, *buckets, *chains;
	uint32_t last = 0;

	if (image->hash != NULL)
		return image->hash[1];
	if (h == NULL)
		return 0;
	buckets = h + 4 + h[2] * (sizeof(ElfW(Addr)) / sizeof *h); /* behind the bloom filter */
	chains = buckets + h[0];
	for (uint32_t i = 0; i < h[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	while (last >= h[1] && (chains[last - h[1]] & 1) == 0)
		last++;
	return last + 1;
}

vdso_clock_gettime *vdso_find_clock_gettime(void)
{
	const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct image image;

	if (header == NULL)
		return NULL;
	image = read_image(header);
	if (image.symbols == NULL || image.names == NULL)
		return NULL;
	for (uint32_t i = 0; i < count_symbols(&image); i++) {
		const ElfW(Sym) *symbol = &image.symbols[i];
		const char *name = image.names + symbol->st_name;

		if (symbol->st_shndx != SHN_UNDEF && (strcmp(name, "__vdso_clock_gettime") == 0 ||
						      strcmp(name, "__kernel_clock_gettime") == 0))
			return (vdso_clock_gettime *)(uintptr_t)(image.base + symbol->st_value);
	}
	return NULL;
}
