/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * table.h - records for people: nanoseconds per call, one line per metric
 */
#pragma once

#include "record.h"

void table_print_head(FILE *out);

/* Sorts batch_ticks of the record. */
void table_print_row(struct record *r, double ns_per_tick, FILE *out);

/* Median of the batches, in ticks.  Sorts them. */
double table_median(struct record *r);
