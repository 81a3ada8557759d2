/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "metrics.h"

static void print_json(const struct metric *m)
{
	const char *control = control_name(m->control);

	printf("{\"name\":\"%s\",\"route\":\"%s\",\"kind\":\"%s\",\"set\":\"%s\",", m->name,
	       route_name(m->route), kind_name(m->kind), m->paper ? "paper" : "extended");
	if (control)
		printf("\"control\":\"%s\",", control);
	else
		printf("\"control\":null,");
	if (m->partner)
		printf("\"partner\":\"%s\",", m->partner);
	printf("\"available\":%s,\"calls\":%u,\"batch\":%u,",
	       metric_available(m) ? "true" : "false", m->calls, m->batch);
	printf("\"timed\":\"%s\",\"outside\":\"%s\",\"source\":\"%s\"}", m->timed, m->outside,
	       m->source);
}

static void print_text(const struct metric *m)
{
	const char *control = control_name(m->control);

	printf("%s  (%s, %s%s%s%s)\n", m->name, m->paper ? "paper" : "extended",
	       route_name(m->route), control ? ", " : "", control ? control : "",
	       control ? " control" : "");
	printf("  timed    %s\n", m->timed);
	printf("  outside  %s\n", m->outside);
	printf("  source   %s\n", m->source);
	printf("  default  %u calls in batches of %u%s\n", m->calls, m->batch,
	       metric_available(m) ? "" : "; not available: no such function in the vDSO");
}

int command_list(int argc, char **argv)
{
	const bool json = argc == 2 && strcmp(argv[1], "--json") == 0;

	if (argc > 1 && !json)
		return command_usage("list", "not an option", argv[1]);
	for (size_t i = 0; i < metrics_count; i++) {
		if (!json) {
			print_text(&metrics[i]);
			continue;
		}
		fputs(i ? ",\n " : "[", stdout);
		print_json(&metrics[i]);
	}
	if (json)
		puts("]");
	return 0;
}
