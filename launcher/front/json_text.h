/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_text.h - change one member of a JSON text, and not a byte of the rest
 *
 * A parser and a printer would lose what they cannot hold: numbers beyond 63 bits (an unlimited
 * rlimit is 2^64-1), the last digits of fractions, the spaces of the author.
 *
 * The text must have been parsed before (front/doc.h): nothing is checked here.  A key that is
 * written with escapes is not found; the doubled key that this makes is an error when the result
 * is parsed again, which the caller must do.
 */
#pragma once

/* path: keys from the outermost object on, NULL-terminated.  Objects that are absent or null are
 * made.  Both free *text and replace it, or return -ENOMEM and leave it alone. */

/* Sets the member to value, a JSON text. */
int json_text_set(char **text, const char *const *path, const char *value);
/* Adds value to the end of the array that the member is. */
int json_text_append(char **text, const char *const *path, const char *value);
