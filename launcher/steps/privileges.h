/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* privileges.h - become root inside, and then give everything away that is not wanted
 *
 * Source: capabilities(7), credentials(7), prctl(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/plan_child.c only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Takes id 0 of the user namespace just mapped, with all capabilities in it. */
int privileges_become_root(struct err *e);

/* The kernel kills us when the launcher ends, however it ends.  A change of ids undoes it. */
int privileges_die_with_parent(struct err *e);

/* Drops capabilities from the bounding set, the only set that survives everything. */
int privileges_bound(uint64_t kept, struct err *e);

/* Takes the ids and the groups; the effective capabilities stay, to be limited next.  Where the
 * user namespace has frozen its groups, without_groups, those that we have are kept. */
int privileges_set_ids(uint32_t uid, uint32_t gid, const uint32_t *groups, size_t group_count,
		       bool without_groups, struct err *e);

/* Limits all sets to kept, and raises those in ambient for the program to come. */
int privileges_limit(uint64_t kept, uint64_t ambient, struct err *e);

int privileges_no_new(struct err *e);

/* Closes /proc/PID/exe of this process to everybody but root outside.  Through it a payload that
 * is user 0 outside as well could write to our program where the kernel lets running ones be
 * written (Linux 6.11 and 6.12), as CVE-2019-5736 did.  exec(2) opens it again. */
int privileges_hide_program(struct err *e);
