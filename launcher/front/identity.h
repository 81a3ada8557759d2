/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* identity.h - who the container is outside, and who the command is inside */
#pragma once

struct err;
struct request;

/* Fills the id maps, ids and capabilities of q->spec from the options, or from who we are:
 *   root        all ids as they are; the user namespace then separates capabilities only
 *   others      0 is the caller, and 1... are the ranges of /etc/subuid and /etc/subgid
 *   no ranges   0 is the caller, and nobody else exists
 */
int identity_complete(struct request *q, struct err *e);
