/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hooks.h - programs that an engine wants run at a stage of the container's life
 *
 * Source: OCI runtime specification, config.md, "POSIX-platform Hooks".
 * Layer:  steps; includes base/ and model/ only; called from engine/ and front/oci_*.c.
 */
#pragma once

struct err;
struct hook_list;

/* Runs them after each other, each with the state of the container on its standard input.
 * Stops at the first that fails: -ECANCELED, with the hook and its end in *e. */
int hooks_run(const struct hook_list *list, const char *state, struct err *e);
