/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* capability.h - the names of the capabilities, capabilities(7)
 *
 * Layer: model; pure.
 */
#pragma once

#include <stdint.h>

struct err;

#define CAPABILITY_BIT(number) (UINT64_C(1) << (number))
#define CAPABILITY_ALL (CAPABILITY_BIT(41) - 1)

/* Reads "CAP_SYS_TIME", "sys_time" or "ALL", in either case.
 * Returns 0, or -EINVAL with *e filled. */
int capability_parse(const char *name, uint64_t *ret_bits, struct err *e);

/* "CAP_SYS_TIME" for the number; NULL if there is no such capability. */
enum { CAPABILITY_TEXT = 32 };
const char *capability_name(unsigned int number, char text[static CAPABILITY_TEXT]);
