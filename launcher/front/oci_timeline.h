/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_timeline.h - the timeline of a bundle: from the key of a service to its journal */
#pragma once

struct err;
struct oci_call;
struct oci_config;

/* Opens the timeline that the configuration asks for, if it does, and sets spec.clocks and
 * spec.timeline by it.  -EBUSY: another container uses it. */
int oci_timeline_open(const struct oci_call *call, struct oci_config *c, struct err *e);
