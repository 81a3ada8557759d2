/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* root_options.h - the options that say what the container sees as its files
 *
 * Rows of front/options.c.
 */
#pragma once

struct err;
struct request;

int note_overlay_dir(struct request *q, char *value, struct err *e);
int note_bind(struct request *q, char *value, struct err *e);
int note_ro_bind(struct request *q, char *value, struct err *e);
int note_tmpfs(struct request *q, char *value, struct err *e);
int note_proc(struct request *q, char *value, struct err *e);
int note_sys(struct request *q, char *value, struct err *e);
int note_dev(struct request *q, char *value, struct err *e);
