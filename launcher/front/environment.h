/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* environment.h - what the command finds in its environment */
#pragma once

struct err;
struct request;

/* Fills q->spec.env: the caller's (unless --clear-env), then the image's, then --env and
 * --env-file in the order given.  Without any of them it is the caller's own, not copied. */
int environment_complete(struct request *q, struct err *e);
