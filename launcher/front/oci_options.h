/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_options.h - the options that engines give, those of runc and crun among them */
#pragma once

struct err;
struct oci_call;

/* Reads the option at *at and its value; *at is moved to the last word used.  command: the one that
 * the option comes after, or NULL.  What has no meaning here is taken and does nothing. */
int oci_option_read(char ***at, const char *command, struct oci_call *call, struct err *e);
