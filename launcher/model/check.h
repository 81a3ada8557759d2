/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.h - is this spec one container that can exist? */
#pragma once

struct container_spec;
struct err;

/* Pure: judges how the parts of the spec fit together, before anything is done.
 * Returns 0, or -EINVAL with *e (and a hint) filled. */
int spec_check(const struct container_spec *spec, struct err *e);
