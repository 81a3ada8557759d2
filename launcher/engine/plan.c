/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/plan.h"

#include <stdio.h>

#include "base/err.h"

int plan_run(const struct plan *plan, struct container *c, struct err *e)
{
	const struct step *end = plan->steps + plan->count;

	for (c->at = c->at != NULL ? c->at + 1 : plan->steps; c->at < end; c->at++) {
		int r;

		if (c->at->needed && !c->at->needed(c->spec))
			continue;
		r = c->at->run(c, e);
		if (r < 0) {
			if (e->step[0] == '\0') /* else the child has named its own step */
				snprintf(e->step, sizeof e->step, "%s", c->at->name);
			return r;
		}
	}
	return 0;
}

void plan_explain(const struct plan *plan, const char *title, const struct container_spec *spec)
{
	printf("%s\n", title);
	for (const struct step *s = plan->steps; s < plan->steps + plan->count; s++)
		if (!s->needed || s->needed(spec))
			printf("  %-20s %s\n", s->name, s->why);
}
