/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* accounts.h - names of users and groups, as the files in /etc have them
 *
 * Not by getpwnam(3): it would read the host's files, and needs the shared libraries of nsswitch.
 * The files of an image are hostile input and are opened beneath its root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* A user by name or number in root's /etc/passwd (root -1: our own).  A number needs no entry;
 * *ret_gid is the user's group, or 0 for a number without entry. */
int accounts_find_user(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		       struct err *e);

/* A group by name or number in root's /etc/group; a number needs no entry. */
int accounts_find_group(int root, const char *group, uint32_t *ret_gid, struct err *e);

/* The name of one of our own users; false if it has none. */
bool accounts_name_of(uint32_t uid, char *ret_name, size_t size);
