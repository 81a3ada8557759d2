/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* contradictions.h - options that cannot both be meant
 *
 * An option that is repeated replaces what it said before; two that ask for different things are
 * refused, since either choice would surprise somebody.
 */
#pragma once

struct err;
struct request;

/* After the namespaces are chosen and the root is open.  Returns 0, or -EINVAL with *e filled. */
int contradictions_refuse(const struct request *q, struct err *e);
