/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filter_cache.h - compiled seccomp filters, kept between two containers
 *
 * To compile the profile of an engine takes longer than all the rest of a start.  An entry is
 * found by the digest of what it was made from (the profile, what its conditions are judged by,
 * the machine, the libseccomp) and believed only if it holds exactly that, byte for byte, and its
 * checksum is right.  Entries are files in ROOT/@filters, a name that no container can have.
 *
 * Only a folder of mode 0700 and files of mode 0600 that belong to us are used, and no links.
 * The cache is never needed: whatever is wrong with it, the profile is compiled.
 */
#pragma once

#include <stddef.h>

#include "model/seccomp_filter.h"

struct err;
struct profile_facts;

struct filter_key {
	char *bytes; /* of the caller, free() */
	size_t length;
};

/* Returns 0 or -ENOMEM with *e filled. */
int filter_key_make(const char *profile, const struct profile_facts *facts, struct filter_key *ret,
		    struct err *e);

/* Returns 0 with the filter (the caller's, as after seccomp_profile_compile()), or -ENOENT. */
int filter_cache_find(const char *root, const struct filter_key *key, struct seccomp_filter *ret);

/* Writes under another name and renames; removes the oldest above the bound.  ROOT must exist. */
void filter_cache_keep(const char *root, const struct filter_key *key,
		       const struct seccomp_filter *filter);
