/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.h - the rows that the tables of timens-run and of OCI bundles have in common
 *
 * Each does one step of a table (engine/plan.h): 0, or a negative errno with *e filled.
 */
#pragma once

struct container;
struct err;

/* host */
int rows_open_channel(struct container *c, struct err *e);
int rows_open_namespaces(struct container *c, struct err *e);
int rows_write_id_maps(struct container *c, struct err *e);
int rows_send_mapped(struct container *c, struct err *e);
int rows_wait_for_ready(struct container *c, struct err *e);
int rows_send_start(struct container *c, struct err *e);

/* child */
int rows_wait_for_maps(struct container *c, struct err *e);
int rows_make_session(struct container *c, struct err *e);
int rows_make_cgroup_namespace(struct container *c, struct err *e);
int rows_shift_clocks(struct container *c, struct err *e);
int rows_bring_loopback_up(struct container *c, struct err *e);
int rows_enter_root(struct container *c, struct err *e);
int rows_seal_root(struct container *c, struct err *e);
int rows_load_filter(struct container *c, struct err *e);
int rows_change_directory(struct container *c, struct err *e);
int rows_forbid_new_privileges(struct container *c, struct err *e);
