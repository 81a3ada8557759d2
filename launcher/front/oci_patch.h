/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_patch.h - clocks for a runtime that knows no annotations: write them into its config.json
 *
 * By the code, the ranks and the messages of create (front/oci_clocks.c).
 */
#pragma once

struct err;
struct oci_clock_flags;

/* Reads a config.json from standard input and prints it with linux.timeOffsets and a new time
 * namespace if flags or its annotations ask for clocks, else unchanged.  Prints nothing on error.
 * *ret_warning is set if a runtime in wide use will fail with the result.
 * Returns 0, or -errno with *e filled. */
int oci_patch_stream(const struct oci_clock_flags *flags, const char **ret_warning, struct err *e);
