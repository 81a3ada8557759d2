/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_words.h - the words of a seccomp profile, and libseccomp's numbers for them */
#pragma once

#include <stdint.h>

struct word {
	const char *name;
	uint32_t value;
	const char *go_name; /* architectures only: what "arches" calls them */
};

/* Each ends with a NULL name. */
extern const struct word seccomp_actions[], seccomp_operators[], seccomp_architectures[],
	seccomp_flags[];

/* NULL for a word that is not there, and for no word. */
const struct word *word_find(const struct word *words, const char *name);
