/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/offsets_now.h"

#include "steps/clock_offsets.h"

int offsets_now(const struct clock_targets *targets, struct clock_offsets *ret, struct err *e)
{
	return clock_offsets_now(targets, ret, e);
}
