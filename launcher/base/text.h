/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.h - strict reading of small texts; no locale, no trailing junk */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The whole text is a decimal number of at most max, digits only. */
bool text_to_number(const char *text, uint64_t max, uint64_t *ret_value);

/* Cuts the next field off *rest at the separator, strsep(3) for one character; NULL at the end. */
char *text_next_field(char **rest, char separator);

/* Is the word one of the comma-separated words of list? */
bool text_list_has(const char *list, const char *word);
