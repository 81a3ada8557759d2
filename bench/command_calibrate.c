/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "calibrate.h"
#include "commands.h"
#include "measure.h"

#define APART_NS 500000000

int command_calibrate(int argc, char **argv)
{
	const enum tick_source source = ticks_best();

	if (argc > 1)
		return command_usage("calibrate", "takes no argument", argv[1]);
	printf("{\"ns_per_tick\":%.12f,\"clock_source_of_ticks\":\"%s\",\"tick_granularity\":"
	       "%" PRIu64 ",\"canary_ticks_per_call\":%.6f}\n",
	       calibrate_ns_per_tick(source, APART_NS), ticks_name(source),
	       calibrate_granularity(source), measure_canary(source).multiply);
	return 0;
}
