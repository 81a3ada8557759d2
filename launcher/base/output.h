/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* output.h - what was printed has arrived, or we say that it has not */
#pragma once

struct err;

/* Prints a text and writes it out.  Returns 0, or -errno with *e if any was lost. */
int output_text(const char *text, struct err *e);

/* Writes out what standard output holds back.  Returns 0, or -errno with *e if any was lost. */
int output_finish(struct err *e);
