/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "musl/musl.h"

#include <stddef.h>

extern const char *const error_words[];
extern const size_t error_words_count;

const char *musl_strerror(int code)
{
	return code >= 0 && (size_t)code < error_words_count ? error_words[code] : "Unknown error";
}
