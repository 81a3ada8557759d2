/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_conditions.h - "includes" and "excludes": for whom an entry of a profile stands */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct err;
struct profile_facts;

/* All of includes.caps, one of includes.arches, none of excludes.caps and excludes.arches, at least
 * includes.minKernel and less than excludes.minKernel; what is not written holds.
 * Returns 0, or -EINVAL with *e filled for a minKernel that is no version. */
int seccomp_conditions_hold(const json_t *entry, const struct profile_facts *facts,
			    const char *architecture, bool *ret, const char *where, struct err *e);
